// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "object/object_arrays.h"
#include "object/object_members.h"
#include "plot/plot_look.h"
#include "tfile/plot.h"
#include "tfile/result.h"

namespace tfile {

// Larger histograms are drawn with joined bins, of which there are no more than the second.
inline constexpr std::uint64_t kDrawnWhole = 1'000'000, kDrawnJoined = 480 * 480;

// Whether an object can be drawn: histograms, profiles, efficiencies and functions of one and two dimensions, bins of
// polygons, graphs, and containers of these. A function can be drawn if its formula is understood or points were saved.
// Errors: unsupported, with the reason.
Result<> check_drawable(const StreamerInfos&, const ObjectMembers&);
inline bool is_drawable(const StreamerInfos& infos, const ObjectMembers& members) {
  return check_drawable(infos, members).has_value();
}

// The same by the class alone; true for every function of one or two variables.
bool is_drawable_class(const StreamerInfos&, std::string_view class_name);

// Whether the object has a table of numbers: all of the above in any dimension; functions of one variable.
bool can_tabulate(const ObjectKind&, const StreamerInfos&, const ObjectMembers&);

// The plot of an object. A container is drawn with at most `numbers` numbers. Errors: unsupported (a formula that is
// not understood), damaged.
Result<Plot> object_plot(const StreamerInfos&, const ObjectMembers&, const PayloadBytes&, std::uint64_t numbers,
                         Effort&);

// The same for a part of another object; nullopt if it cannot be drawn, or if the limit for the whole is reached.
std::optional<Plot> part_plot(const ObjectMembers&, PlotScene);

// Takes fMinimum and fMaximum of a histogram, graph or frame, if they were set.
void set_range(PlotAxis&, const ObjectMembers&);

// The numbers of an object: one line per bin (edges, content, error) or per point.
Result<Spreadsheet> object_spreadsheet(const StreamerInfos&, const ObjectMembers&, Effort&);

}  // namespace tfile
