// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "object/object_members.h"
#include "plot/plot_look.h"
#include "tfile/plot.h"
#include "tfile/result.h"

namespace tfile {

// A drawing option as it is compared.
std::string small_letters(std::string_view);

// Histograms stacked on each other (or, with the option nostack, unstacked); graphs in one frame. Parts that cannot be
// drawn are left out.
Plot stack_plot(const ObjectMembers&, const PlotScene&);
Plot multigraph_plot(const ObjectMembers&, const PlotScene&);

// A frame of RooFit: its axes, and its items in the order in which they were added.
Plot roo_plot(const ObjectMembers&, const PlotScene&);

// A canvas: the content of its pads, with their logarithmic axes, texts, lines and legends.
Plot canvas_plot(const ObjectMembers&, const PlotScene&);

}  // namespace tfile
