// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "object/object_arrays.h"
#include "object/object_members.h"
#include "object/plot_look.h"
#include "tfile/plot.h"
#include "tfile/result.h"

namespace tfile {

// Whether an object can be drawn: histograms, profiles, efficiencies and functions of one and two dimensions, bins of
// polygons, graphs, and what holds some of these. Of a function: whether its formula is understood or points were
// saved. Errors: unsupported, and why.
Result<> check_drawable(const StreamerInfos&, const ObjectMembers&);
inline bool is_drawable(const StreamerInfos& infos, const ObjectMembers& members) {
  return check_drawable(infos, members).has_value();
}

// The same of its class alone: true of every function of one or two variables.
bool is_drawable_class(const StreamerInfos&, std::string_view class_name);

// Whether they have a table of numbers: the above of any dimension, functions of one.
bool can_tabulate(const ObjectKind&, const StreamerInfos&, const ObjectMembers&);

// What is to be drawn; of what holds others not more than so many numbers. Errors: unsupported (a formula that is not
// understood), damaged.
Result<Plot> object_plot(const StreamerInfos&, const ObjectMembers&, std::uint64_t numbers, Effort&);

// The same of what another object holds; nothing where it cannot be drawn, or more was drawn of the whole than is
// shown.
std::optional<Plot> part_plot(const ObjectMembers&, PlotScene);

// The numbers of it: a line a bin (its borders, content, error) or a point.
Result<Spreadsheet> object_spreadsheet(const StreamerInfos&, const ObjectMembers&, Effort&);

}  // namespace tfile
