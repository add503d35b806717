// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/object_members.h"
#include "object/plot_look.h"
#include "tfile/plot.h"
#include "tfile/result.h"

namespace tfile {

// Classes that hold what is drawn: canvases and pads, stacks of histograms, graphs in one frame.
bool is_pad(const StreamerInfos&, std::string_view class_name);
bool is_stack(const StreamerInfos&, std::string_view class_name);
bool is_multigraph(const StreamerInfos&, std::string_view class_name);

// Histograms on top of each other (or, by the option nostack, as they are), graphs in one frame. Parts that cannot be
// drawn are left out.
Plot stack_plot(const ObjectMembers&, const PlotScene&);
Plot multigraph_plot(const ObjectMembers&, const PlotScene&);

// A canvas: what stands in its pads, with their logarithmic axes, texts, lines and legends.
Plot canvas_plot(const ObjectMembers&, const PlotScene&);

}  // namespace tfile
