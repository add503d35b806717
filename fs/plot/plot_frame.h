// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "plot/plot_scale.h"
#include "plot/svg_drawing.h"
#include "tfile/plot.h"

namespace tfilefs {

// The page of one plot, and whether it may grow for long labels.
struct PlotPage {
  double width = 960, height = 640;
  bool may_grow = true;
};

// The ranges that all layers of a plot together need on its axes.
struct PlotRanges {
  Range x, y, z;
  bool has_zero = false;  // y begins at 0 unless something is below
  bool has_x_room = false, has_y_room = false;
  bool has_colours = false;
  bool is_shared = false;  // every layer counts, also along x
};

// The frame of a plot: its two axes (and the scale of colours) on the page. Layers are drawn between `begin` and `end`.
class PlotFrame {
 public:
  PlotFrame(SvgDrawing& to, const tfile::Plot& plot, const tfile::PlotAxis& x, const tfile::PlotAxis& y,
            const PlotRanges& ranges, PlotPage page, std::string clip);

  const Scale& x() const { return x_; }
  const Scale& y() const { return y_; }
  const Scale& z() const { return z_; }
  const PlotPage& page() const { return page_; }
  SvgDrawing& to() const { return to_; }
  bool log_x() const { return x_.is_log; }

  // Draws the grid behind the layers, and opens the group that clips them to the frame; then, after the layers, closes
  // it, with frame, ticks, labels and titles on top.
  void begin(bool with_grid) const;
  void end() const;
  void colour_scale(const std::string& title) const;
  void note(std::string_view text) const;  // above the frame, at its right end

 private:
  void lay_out(const PlotRanges&);
  void measure_x_labels();
  double z_labels_width() const;
  std::vector<Tick> z_ticks() const;
  double y_labels_width() const;
  void x_axis() const;
  void x_labels() const;
  void y_axis() const;
  std::vector<struct Tick> x_ticks() const;
  std::vector<struct Tick> y_ticks() const;

  SvgDrawing& to_;
  const tfile::Plot& plot_;
  const tfile::PlotAxis &x_axis_, &y_axis_;
  PlotPage page_;
  const std::string clip_;
  Scale x_, y_, z_;
  // Labels of bins along x: their size, whether they are upright, which share of them is shown, and their height.
  double label_size_ = kTickSize, labels_height_ = 0;
  bool is_upright_ = false;
  std::size_t label_step_ = 1;
  double bottom_ = 0;  // from the frame to the title of x
};

}  // namespace tfilefs
