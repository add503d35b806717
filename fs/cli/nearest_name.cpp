// SPDX-License-Identifier: Apache-2.0
#include "cli/nearest_name.h"

#include <algorithm>

#include "cli/source_names.h"
#include "letter_case.h"
#include "printable.h"
#include "vfs/held.h"
#include "waited.h"
#include "word_distance.h"

namespace tfilefs {
namespace {

// Each comparison takes the product of the lengths.
constexpr std::size_t kNameSizeMax = 64, kNamesMax = 20'000;

std::string_view without_type(std::string_view name) { return name.substr(0, name.rfind('.')); }

}  // namespace

std::string nearest_name(std::string_view word, const std::vector<std::string>& names) {
  if (word.empty() || word.size() > kNameSizeMax) return "";
  NearestName nearest(lower_case(word), std::max<std::size_t>(1, word.size() / 3));
  for (std::size_t i = 0; i < names.size() && i < kNamesMax; ++i) {
    if (names[i].size() > kNameSizeMax) continue;
    const std::string name = lower_case(names[i]);
    nearest.look_at(name, names[i]);
    nearest.look_at(without_type(name), names[i]);
  }
  return nearest.found();
}

std::string like_name_of(FileSystem& fs, std::string_view path) {
  const auto root = fs.find_path("");
  if (!root) return "";
  HeldInode above(fs, *root);
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view word = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (word.empty()) continue;
    const auto found = waited<FileSystem::Found>([&](auto reply) { fs.lookup(above.id(), word, std::move(reply)); });
    if (found) {
      above = HeldInode(fs, *found);
      continue;
    }
    const auto listed = names_in(fs, above.id());
    if (!listed) return "";
    std::vector<std::string> names;
    for (const ListedName& each : *listed) names.push_back(each.name);
    const std::string nearest = nearest_name(word, names);
    return nearest.empty() ? "" : "; did you mean " + printable(nearest) + "?";
  }
  return "";
}

}  // namespace tfilefs
