// SPDX-License-Identifier: Apache-2.0
#include "staging/overlay/staged_object.h"

#include <algorithm>
#include <array>

#include "staging/overlay/staged_tree.h"
#include "tfile/node.h"

namespace tfilefs {
namespace {

constexpr std::array<std::string_view, 5> kArrays = {"values", "variances", "xedges", "yedges", "zedges"};
constexpr std::string_view kFlow = "flow";

// "values" for "values.f4x3" and "values.npy".
std::string_view array_of(std::string_view name) {
  const std::string_view stem = name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name;
  const auto* const found = std::ranges::find_if(kArrays, [&](std::string_view array) {
    if (stem == array) return stem.size() != name.size();
    const auto typed = tfile::parse_typed_name(stem);
    return typed && typed->stem == array;
  });
  return found == kArrays.end() ? std::string_view() : *found;
}

bool holds_arrays(const StagedNode& directory) {
  bool has_values = false, has_edges = false;
  for (const auto& [name, node] : directory.children) {
    if (node->directory) {
      if (name != kFlow) return false;
      continue;
    }
    const std::string_view array = array_of(name);
    const bool is_temporary = name[0] == '.' && !is_marker(name);
    if (array.empty() && !is_temporary && !is_object_file(name)) return false;
    has_values = has_values || array == "values";
    has_edges = has_edges || array == "xedges";
  }
  return has_values && has_edges;
}

}  // namespace

bool is_object_file(std::string_view name) {
  return name == kObjectBytes || name == kObjectJson || name == kObjectStreamerInfo;
}

bool makes_object(const StagedNode& directory) {
  if (!directory.directory || !directory.base_name.empty() || !directory.parent.lock()) return false;
  return directory.children.contains(kObjectBytes) || holds_arrays(directory);
}

bool holds_objects(const StagedNode& directory) {
  return std::ranges::any_of(directory.children, [](const auto& child) {
    const StagedNode& node = *child.second;
    return node.directory && !node.is_table && (makes_object(node) || holds_objects(node));
  });
}

}  // namespace tfilefs
