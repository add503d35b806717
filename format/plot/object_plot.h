// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "object/object_members.h"
#include "plot/plot_look.h"
#include "tfile/plot.h"

namespace tfile {

// The plot of a part of another object, as object_plot() (object/object_plots.h) makes it; nullopt if it cannot be
// drawn, or if the limit for the whole is reached.
std::optional<Plot> part_plot(const ObjectMembers&, PlotScene);

// Takes fMinimum and fMaximum of a histogram, graph or frame, if they were set.
void set_range(PlotAxis&, const ObjectMembers&);

}  // namespace tfile
