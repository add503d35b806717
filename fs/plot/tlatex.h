// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tfilefs {

// The space that a text takes around the left end of its base line, in the units of its size.
struct TextExtent {
  double width = 0, up = 0, down = 0;
};
TextExtent tlatex_extent(std::string_view tlatex, double size);

enum class TextAnchor { start, middle, end };
struct TextPlace {
  double x = 0, y = 0;  // of the base line, at `anchor`
  double size = 16;
  std::string_view style = {};  // class of the SVG element
  TextAnchor anchor = TextAnchor::start;
  double rotate = 0;             // degrees, clockwise, around x and y
  std::string_view colour = {};  // "#rrggbb"; empty: the style's
};

// Appends a text in TLatex ("p_{T} [GeV/c^{2}]", "#frac{d#sigma}{dx}", "#sqrt{s}") as an SVG text element, with lines
// for bars and roots; all text is escaped. As in ROOT, `_` and `^` lower and raise a text in braces behind them, and
// are letters anywhere else; so is `#` before an unknown word. Bytes that are not UTF-8 or not allowed in XML become
// U+FFFD.
void append_tlatex(std::string& svg, std::string_view tlatex, const TextPlace&);

}  // namespace tfilefs
