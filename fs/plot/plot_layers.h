// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "plot/plot_frame.h"
#include "tfile/plot.h"

namespace tfilefs {

// Per kind of layer: its ranges on the axes, and its drawing within a frame. `is_first`: this layer decides the axes.

void add_ranges(const tfile::PlotBins&, bool is_first, PlotRanges&);
void add_ranges(const tfile::PlotPoints&, bool is_first, PlotRanges&);
void add_ranges(const tfile::PlotPolygons&, bool is_first, PlotRanges&);

void draw_layer(const PlotFrame&, const tfile::PlotBins&);
void draw_layer(const PlotFrame&, const tfile::PlotPoints&);
void draw_layer(const PlotFrame&, const tfile::PlotPolygons&);

// Two dimensions: cells as colours.
void add_map_ranges(const tfile::PlotBins&, bool is_first, PlotRanges&);
void draw_map(const PlotFrame&, const tfile::PlotBins&);

// Notes and the legend, on top of all layers.
void draw_notes(const PlotFrame&, const tfile::Plot&);

}  // namespace tfilefs
