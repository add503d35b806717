// SPDX-License-Identifier: Apache-2.0
#include "cli/absolute_paths.h"

#include "cli/mount_table.h"
#include "tfile/source.h"
#include "vfs/names/chain_names.h"

namespace tfilefs {
namespace {

// Not a URL. The name of a list has an @ in front, unless a file is called so.
std::string absolute_source(const std::string& name) {
  if (tfile::is_url(name)) return name;
  if (is_there(name)) return absolute_path(name);
  return name.starts_with('@') ? "@" + absolute_path(name.substr(1)) : absolute_path(name);
}

}  // namespace

void make_paths_absolute(std::vector<std::string>& sources, MountOptions& options) {
  for (std::string& source : sources) source = absolute_source(source);
  for (NamedFriend& each : options.file_system.friends) each.source = absolute_source(each.source);
  const auto make_absolute = [](std::string& path) {
    if (!path.empty()) path = absolute_path(path);
  };
  make_absolute(options.file_system.remote.cache_directory);
  make_absolute(options.file_system.metrics_file);
  make_absolute(options.log_file);
  if (options.chain) make_absolute(options.chain->index);
}

}  // namespace tfilefs
