// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "fuse/operations.h"

namespace tfilefs {
namespace {

constexpr std::size_t kFileSystemId = 3;  // of four ids: real, effective, saved, file system's

// The ids in a line of /proc/PID/status, behind its name.
std::vector<id_t> ids_of(const std::string& line) {
  std::istringstream text(line.substr(line.find(':') + 1));
  std::vector<id_t> ids;
  for (id_t id = 0; text >> id;) ids.push_back(id);
  return ids;
}

// The groups of the process; none if its id belongs to another process by now, or it cannot be seen from here.
std::vector<gid_t> groups_of(const fuse_ctx& who) {
  std::ifstream status("/proc/" + std::to_string(who.pid) + "/status");
  bool is_user = false, is_group = false;
  std::vector<gid_t> groups;
  for (std::string line; who.pid != 0 && std::getline(status, line);) {
    const auto is = [&](const char* name) { return line.starts_with(name); };
    if (!is("Uid:") && !is("Gid:") && !is("Groups:")) continue;
    std::vector<id_t> ids = ids_of(line);
    if (is("Groups:")) {
      groups = std::move(ids);
      break;
    }
    if (ids.size() <= kFileSystemId) break;
    (is("Uid:") ? is_user : is_group) = ids[kFileSystemId] == (is("Uid:") ? who.uid : who.gid);
  }
  return is_user && is_group ? groups : std::vector<gid_t>();
}

}  // namespace

CallerPtr caller_of(fuse_req_t request, const Trust& trust) {
  if (!trust.is_shared) return nullptr;
  const fuse_ctx& who = *fuse_req_ctx(request);
  if (who.uid == 0 || who.uid == ::geteuid() || who.uid == trust.ownership.uid) return nullptr;
  auto caller = std::make_shared<Caller>(Caller{who.uid, who.gid, groups_of(who)});
  const auto& group = trust.ownership.gid;
  if (group && (caller->gid == *group || std::ranges::count(caller->groups, *group) > 0)) return nullptr;
  return caller;
}

}  // namespace tfilefs
