// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "object/object_members.h"

namespace tfile {

// Classes that contain drawn objects: canvases and pads, stacks of histograms, graphs in one frame, frames of RooFit.
bool is_pad(const StreamerInfos&, std::string_view class_name);
bool is_stack(const StreamerInfos&, std::string_view class_name);
bool is_multigraph(const StreamerInfos&, std::string_view class_name);
bool is_roo_plot(const StreamerInfos&, std::string_view class_name);

// The items of an object of these classes, or of a list: `count` of them, some of which may be null.
struct HeldItems {
  std::string list;        // the member with the items; empty: the object itself is the list
  bool are_pairs = false;  // pairs of an item and its option, without a list
  std::size_t count = 0;

  std::string path(std::size_t i) const { return at(are_pairs ? "" : "arr", i) + (are_pairs ? ".first" : ""); }
  std::string option(std::size_t i) const { return at(are_pairs ? "" : "opt", i) + (are_pairs ? ".second" : ""); }
  std::string all() const { return are_pairs ? list : list.empty() ? "arr" : list + ".arr"; }

 private:
  std::string at(const std::string& part, std::size_t i) const {
    const std::string prefix = list.empty() ? part : part.empty() ? list : list + "." + part;
    return prefix + "." + std::to_string(i);
  }
};
// nullopt for objects of other classes.
std::optional<HeldItems> held_items(const StreamerInfos&, const ObjectMembers&);

}  // namespace tfile
