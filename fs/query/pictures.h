// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "query/draw.h"
#include "reply.h"
#include "tfile/plot.h"

namespace tfilefs {

// All that other rooms see of the library of fs/plot. A build without it (TFILEFS_PLOTS) has no_pictures.cpp instead.

bool has_pictures();

// A drawing of 960 by 640 units (more where names of bins are long) with axes, titles and ticks, for a slide:
// histograms as steps with error bars, two dimensions as a colour map with its scale, points with their errors, curves;
// canvases with all their pads. Self-contained SVG; all text escaped.
std::string plot_svg(const tfile::Plot&);

// The picture of a drawing. `is_log`: the contents have a logarithmic scale. Errors: unsupported (three axes, no
// pictures in this build).
Result<tfile::Plot> drawn_plot(const Drawing&, bool is_log);

}  // namespace tfilefs
