// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tfilefs {

// The width of a line of UTF-8, in ems: of each character the greater one of Arial (and fonts with its metrics, such as
// Liberation Sans) and DejaVu Sans. Characters outside of ASCII and Greek count with an average width, bytes that are
// not UTF-8 as one character each.
double text_width(std::string_view text);

// A text in TLatex taken apart: runs of letters, and lines. In ems of the whole text; x to the right, y downward, both
// from the left end of the base line.
// The program that displays a run sets its pieces one behind the other, with the widths of its own font, which are not
// known here. Only what stands beside something drawn, or over something else, has a place of its own.
struct TextPiece {
  double dx = 0;  // from the end of the piece before
  double y = 0, size = 1;
  std::string escaped;  // for XML
  bool italic = false, bold = false;
  std::string_view colour;  // "#rrggbb", or empty
};
struct LetterRun {
  double x = 0, width = 0;  // the room that it has
  // Its neighbours have places of their own. A run is set at the end of its room if that is so behind it alone, and in
  // the middle if it is so on both sides: what its letters leave empty is where it is not seen.
  bool bound_left = false, bound_right = false;
  std::vector<TextPiece> pieces;
};
struct TextStroke {
  std::vector<std::pair<double, double>> points;
  double width = 0.05;
};
struct TextLayout {
  double width = 0, up = 0, down = 0;
  std::vector<LetterRun> runs;
  std::vector<TextStroke> strokes;
  // Whether the first run goes on from what is before, and the last one into what is behind.
  bool begins_open = false, ends_open = false;

  bool is_one_run() const { return runs.size() == 1 && strokes.empty() && begins_open && ends_open; }
};

// Work and size are bounded: only the first thousand bytes and the outer twenty levels of braces are used.
TextLayout lay_out_tlatex(std::string_view tlatex);

}  // namespace tfilefs
