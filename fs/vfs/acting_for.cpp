// SPDX-License-Identifier: Apache-2.0
#include "vfs/acting_for.h"

#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

namespace tfilefs {
namespace {

// The system call: the C library's function would change all threads.
bool set_groups(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

std::vector<gid_t> groups_of_thread() {
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(0, count)));
  return groups;
}

// These calls do not tell errors; asked for an id that there is not, they tell the one that is.
bool has_ids(uid_t uid, gid_t gid) {
  return static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))) == uid &&
         static_cast<gid_t>(::setfsgid(static_cast<gid_t>(-1))) == gid;
}

}  // namespace

bool ActingFor::is_possible() { return ::geteuid() == 0; }

ActingFor::ActingFor(const CallerPtr& caller) {
  if (!caller || !is_possible()) return;
  own_groups_ = groups_of_thread();
  acts_ = set_groups(caller->groups);
  if (acts_) {
    ::setfsgid(caller->gid);
    ::setfsuid(caller->uid);  // and with it go the capabilities of files
  }
  failed_ = !acts_ || !has_ids(caller->uid, caller->gid);
}

ActingFor::~ActingFor() {
  if (!acts_) return;
  ::setfsuid(::geteuid());
  ::setfsgid(::getegid());
  // A thread that goes on with the ids of somebody else would answer the next one wrongly.
  if (!set_groups(own_groups_) || !has_ids(::geteuid(), ::getegid())) std::terminate();
}

}  // namespace tfilefs
