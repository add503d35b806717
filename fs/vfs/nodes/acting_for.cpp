// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/acting_for.h"

#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

#include "tfile/check.h"

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

// These calls report no errors. Called with an id that does not exist, they return the current one.
bool has_ids(uid_t uid, gid_t gid) {
  return static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))) == uid &&
         static_cast<gid_t>(::setfsgid(static_cast<gid_t>(-1))) == gid;
}

}  // namespace

bool ActingFor::is_possible() { return ::geteuid() == 0; }

ActingFor::ActingFor(const CallerPtr& caller) {
  if (!caller || !is_possible()) return;
  TFILE_DCHECK(has_ids(::geteuid(), ::getegid()));
  own_groups_ = groups_of_thread();
  acts_ = set_groups(caller->groups);
  if (acts_) {
    ::setfsgid(caller->gid);
    ::setfsuid(caller->uid);  // this also drops the capabilities for files
  }
  failed_ = !acts_ || !has_ids(caller->uid, caller->gid);
}

ActingFor::~ActingFor() {
  if (!acts_) return;
  ::setfsuid(::geteuid());
  ::setfsgid(::getegid());
  // A thread that kept the ids of one caller would serve the next one with wrong permissions.
  if (!set_groups(own_groups_) || !has_ids(::geteuid(), ::getegid())) std::terminate();
}

}  // namespace tfilefs
