// SPDX-License-Identifier: Apache-2.0
#include "cli/repack_sources.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/mount_table.h"
#include "tfile/name.h"
#include "tfile/source.h"
#include "vfs/names/names.h"
#include "vfs/names/path_pattern.h"

namespace tfilefs {
namespace {

// Takes "/.where=EXPR" from the end of a path.
Result<std::string> take_where(std::string& path) {
  const std::string begin = "/" + std::string(kWhereName);
  const std::size_t at = path.find(begin);
  if (at == std::string::npos) return std::string();
  std::string expression = path.substr(at + begin.size());
  while (expression.ends_with('/')) expression.pop_back();
  if (expression.find('/') != std::string::npos)
    return fail(ErrorKind::unsupported, path + ": repack takes one expression; join two by &&");
  path.resize(at);
  return tfile::unescape_name(expression);
}

struct MountedPath {
  nlohmann::json config;
  std::string inside;  // with a slash in front, or empty
};

// If a path lies in a mount: what is mounted there, and the rest of the path.
std::optional<MountedPath> mounted_path(const std::string& path) {
  if (tfile::is_url(path) || has_pattern(path)) return std::nullopt;
  const std::string absolute = absolute_path(path);
  const std::string mount_point = mount_point_above(absolute);
  if (mount_point.empty()) return std::nullopt;
  std::ifstream file(mount_point + "/.tfilefs/config.json");
  return MountedPath{nlohmann::json::parse(file, nullptr, false), absolute.substr(mount_point.size())};
}

Result<> add_mounted(const MountedPath& mounted, const std::string& path, std::vector<std::string>& into) {
  for (const char* option : {"friends", "define", "where"})
    if (mounted.config.contains(option))
      return fail(ErrorKind::unsupported,
                  path + ": the mount has " + option +
                      ", which repack takes by options of its own; name the file that is mounted");
  const auto sources = mounted.config.find("sources");
  if (sources == mounted.config.end() || !sources->is_array())
    return fail(ErrorKind::unsupported, path + ": what is mounted there is not told");
  for (const auto& source : *sources)
    if (source.is_string()) into.push_back(source.get<std::string>() + mounted.inside);
  return {};
}

}  // namespace

Result<RepackSources> repack_sources(const std::vector<std::string>& typed) {
  RepackSources sources;
  for (std::string path : typed) {
    TRY(std::string where, take_where(path));
    if (!sources.names.empty() && where != sources.where)
      return fail(ErrorKind::unsupported, path + ": repack takes one expression for all sources");
    sources.where = std::move(where);
    const auto mounted = mounted_path(path);
    if (mounted)
      TRY_VOID(add_mounted(*mounted, path, sources.names));
    else
      sources.names.push_back(std::move(path));
  }
  return sources;
}

}  // namespace tfilefs
