// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tfilefs {

// The width of a line of UTF-8 in Arial and fonts with its metrics (Helvetica, Liberation Sans), in ems. Characters
// outside of ASCII and Greek count with an average width, bytes that are not UTF-8 as one character each.
double text_width(std::string_view text);

// A text in TLatex taken apart: runs of characters and lines, each with its place. In ems of the whole text; x to the
// right, y downward, both from the left end of the base line.
struct TextPiece {
  double x = 0, y = 0, size = 1, width = 0;
  std::string escaped;  // for XML
  bool italic = false, bold = false;
  std::string_view colour;  // "#rrggbb", or empty
};
struct TextStroke {
  std::vector<std::pair<double, double>> points;
  double width = 0.05;
};
struct TextLayout {
  double width = 0, up = 0, down = 0;
  std::vector<TextPiece> pieces;
  std::vector<TextStroke> strokes;
};

// Work and size are bounded: only the first thousand bytes and the outer twenty levels of braces are used.
TextLayout lay_out_tlatex(std::string_view tlatex);

}  // namespace tfilefs
