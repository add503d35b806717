// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tfile/plot.h"

namespace tfilefs {

// A drawing of 960 by 640 units (more where names of bins are long) with axes, titles and ticks, for a slide:
// histograms as steps with error bars, two dimensions as a colour map with its scale, points with their errors, curves;
// canvases with all their pads. Self-contained SVG; all text escaped.
std::string plot_svg(const tfile::Plot&);

}  // namespace tfilefs
