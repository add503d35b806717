// SPDX-License-Identifier: Apache-2.0
#include "cli/resource_limits.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include "mount_lines.h"

namespace tfilefs {
namespace {

// The files of one resource, in version 2 and in version 1.
struct Resource {
  std::string_view controller;  // of version 1
  std::vector<std::string_view> files[2];
  std::optional<std::uint64_t> (*amount)(std::istream&, const std::string& directory);
};

// A mounted hierarchy of groups, and the group of this process in it.
struct Hierarchy {
  bool is_second_version = false;
  std::string mounted_at, shown, group;  // shown: the group that is seen at the mount point
};

bool has_word(std::string_view list, std::string_view word) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (list.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

// The group of this process, as proc(5) has it: "4:memory:/user/run", "0::/user/run".
std::optional<std::string> group_of(const std::string& root, std::string_view controller) {
  std::ifstream lines(root + "/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t list = line.find(':'), path = line.find(':', list + 1);
    if (path == std::string::npos) continue;
    const auto controllers = std::string_view(line).substr(list + 1, path - list - 1);
    if (controller.empty() ? controllers.empty() : has_word(controllers, controller)) return line.substr(path + 1);
  }
  return std::nullopt;
}

std::vector<Hierarchy> hierarchies(const std::string& root, std::string_view controller) {
  std::vector<Hierarchy> found;
  std::ifstream lines(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream front(line.substr(0, dash)), back(line.substr(dash + 3));
    std::string skipped, type, source, options;
    Hierarchy hierarchy;
    front >> skipped >> skipped >> skipped >> hierarchy.shown >> hierarchy.mounted_at;
    back >> type >> source >> options;
    hierarchy.shown = plain_field(hierarchy.shown);  // units of systemd have a backslash in their names
    hierarchy.mounted_at = plain_field(hierarchy.mounted_at);
    hierarchy.is_second_version = type == "cgroup2";
    if (!hierarchy.is_second_version && (type != "cgroup" || !has_word(options, controller))) continue;
    const auto group = group_of(root, hierarchy.is_second_version ? "" : controller);
    if (!group) continue;
    hierarchy.group = *group;
    found.push_back(std::move(hierarchy));
  }
  return found;
}

// The directories of the group and of those above it that can be seen, the group's own first.
std::vector<std::string> directories(const Hierarchy& hierarchy) {
  std::string below = hierarchy.group;
  if (hierarchy.shown != "/") {
    const bool is_below = below.starts_with(hierarchy.shown + "/");
    below = is_below ? below.substr(hierarchy.shown.size()) : "";  // else a container shows the group itself
  }
  std::vector<std::string> found;
  for (; !below.empty() && below != "/"; below.erase(below.rfind('/'))) found.push_back(hierarchy.mounted_at + below);
  found.push_back(hierarchy.mounted_at);
  return found;
}

void limit(ResourceLimit& to, const std::string& root, const Resource& resource) {
  for (const Hierarchy& hierarchy : hierarchies(root, resource.controller)) {
    for (const std::string_view file : resource.files[hierarchy.is_second_version ? 0 : 1]) {
      for (const std::string& directory : directories(hierarchy)) {
        const std::string path = directory + "/" + std::string(file);
        std::ifstream text(root + path);
        const auto amount = text ? resource.amount(text, root + directory) : std::nullopt;
        if (amount && *amount < to.amount) to = {*amount, path};
      }
    }
  }
}

// "max", and in version 1 a number beyond any memory, are no limit. In version 1 the statistics of a group have the
// least limit of all groups above it, also of those that a container does not show.
std::optional<std::uint64_t> bytes(std::istream& text, const std::string&) {
  std::uint64_t number = 0;
  if (text >> number) return number;
  text.clear();
  for (std::string word; text >> word;)
    if (word == "hierarchical_memory_limit" && text >> number) return number;
  return std::nullopt;
}

// "QUOTA PERIOD" in version 2, QUOTA in version 1 with the period in a file beside it: so many microseconds of all
// cores together.
std::optional<std::uint64_t> cores(std::istream& text, const std::string& directory) {
  std::int64_t quota = 0, period = 0;
  if (!(text >> quota) || quota <= 0) return std::nullopt;
  if (!(text >> period)) std::ifstream(directory + "/cpu.cfs_period_us") >> period;
  if (period <= 0) return std::nullopt;
  return std::max<std::int64_t>(1, quota / period + (quota % period != 0));
}

}  // namespace

ResourceLimit memory_limit(const std::string& root) {
  const auto pages = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  const auto page = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
  ResourceLimit result{pages * page, {}};
  limit(result, root, {"memory", {{"memory.max", "memory.high"}, {"memory.limit_in_bytes", "memory.stat"}}, bytes});
  return result;
}

ResourceLimit core_limit(const std::string& root) {
  ResourceLimit result{std::max(1U, std::thread::hardware_concurrency()), {}};
  limit(result, root, {"cpu", {{"cpu.max"}, {"cpu.cfs_quota_us"}}, cores});
  return result;
}

}  // namespace tfilefs
