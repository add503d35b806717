// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "object/object_members.h"
#include "object/plot_look.h"
#include "tfile/plot.h"
#include "tfile/result.h"

namespace tfile {

// Classes that hold what is drawn: canvases and pads, stacks of histograms, graphs in one frame, frames of RooFit.
bool is_pad(const StreamerInfos&, std::string_view class_name);
bool is_stack(const StreamerInfos&, std::string_view class_name);
bool is_multigraph(const StreamerInfos&, std::string_view class_name);
bool is_roo_plot(const StreamerInfos&, std::string_view class_name);

// The items of what holds others, these classes and lists: as many as `count`, some of which may be nothing.
struct HeldItems {
  std::string list;        // the member that has them; empty: it is the list itself
  bool are_pairs = false;  // of an item and its option, without a list
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
// Nothing where the object is of another class.
std::optional<HeldItems> held_items(const StreamerInfos&, const ObjectMembers&);

// Histograms on top of each other (or, by the option nostack, as they are), graphs in one frame. Parts that cannot be
// drawn are left out.
Plot stack_plot(const ObjectMembers&, const PlotScene&);
Plot multigraph_plot(const ObjectMembers&, const PlotScene&);

// A frame of RooFit: its axes, and its items as they were added.
Plot roo_plot(const ObjectMembers&, const PlotScene&);

// A canvas: what stands in its pads, with their logarithmic axes, texts, lines and legends.
Plot canvas_plot(const ObjectMembers&, const PlotScene&);

}  // namespace tfile
