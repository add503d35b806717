// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plot/svg_text.h"
#include "plot/tlatex.h"
#include "tfile/plot.h"

namespace tfilefs {

// The text of an SVG drawing as it grows.
struct SvgDrawing {
  std::string svg;

  void line(double x1, double y1, double x2, double y2, std::string_view style, std::string_view more = {});
  void rect(double x, double y, double width, double height, std::string_view more);
  void move_to(double x, double y, bool begins);  // in the data of a path
  void text(std::string_view tlatex, const TextPlace& place) { append_tlatex(svg, tlatex, place); }
};

// "#1f5fa8"
std::string colour_text(std::uint32_t rgb);

// ` style="…"` for lines, filled areas and marks: empty if the plot has no style of its own.
std::string line_style(const tfile::PlotLook&);
std::string fill_style(const tfile::PlotLook&);
std::string mark_style(const tfile::PlotLook&);

// The sizes of text, by its purpose.
inline constexpr double kTitleSize = 24, kAxisSize = 20, kTickSize = 16, kNoteSize = 15;

}  // namespace tfilefs
