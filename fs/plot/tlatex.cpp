// SPDX-License-Identifier: Apache-2.0
#include "plot/tlatex.h"

#include <algorithm>
#include <utility>

#include "plot/svg_text.h"
#include "plot/tlatex_layout.h"

namespace tfilefs {
namespace {

constexpr std::pair<TextAnchor, std::string_view> kAnchors[] = {
    {TextAnchor::start, "start"}, {TextAnchor::middle, "middle"}, {TextAnchor::end, "end"}};

void append_looks(std::string& svg, const TextPiece& piece) {
  if (piece.italic) svg += " font-style=\"italic\"";
  if (piece.bold) svg += " font-weight=\"bold\"";
  if (!piece.colour.empty()) svg += " fill=\"" + std::string(piece.colour) + "\"";
}

void append_anchor(std::string& svg, TextAnchor wanted) {
  for (const auto& [anchor, name] : kAnchors) {
    if (anchor == wanted && wanted != TextAnchor::start) svg += " text-anchor=\"" + std::string(name) + "\"";
  }
}

// Only the run has a place: its pieces follow each other.
void append_pieces(std::string& svg, const std::vector<TextPiece>& pieces, double size) {
  double y = 0;
  for (const TextPiece& piece : pieces) {
    const bool is_plain = piece.dx == 0 && piece.y == y && piece.size == 1;
    if (is_plain && !piece.italic && !piece.bold && piece.colour.empty()) {
      svg += piece.escaped;
      continue;
    }
    svg += "<tspan";
    if (piece.dx != 0) append_attribute(svg, "dx", piece.dx * size);
    if (piece.y != y) append_attribute(svg, "dy", (piece.y - y) * size);
    if (piece.size != 1) append_attribute(svg, "font-size", piece.size * size);
    append_looks(svg, piece);
    svg += '>' + piece.escaped + "</tspan>";
    y = piece.y;
  }
}

void append_run(std::string& svg, const LetterRun& run, const TextPlace& place, double x, TextAnchor anchor) {
  svg += "<text class=\"" + std::string(place.style) + "\"";
  append_attribute(svg, "font-size", place.size);
  if (!place.colour.empty()) svg += " style=\"fill:" + std::string(place.colour) + "\"";
  append_attribute(svg, "x", x);
  append_attribute(svg, "y", place.y);
  append_anchor(svg, anchor);
  svg += '>';
  append_pieces(svg, run.pieces, place.size);
  svg += "</text>\n";
}

// A run beside something that is drawn.
void append_bound(std::string& svg, const LetterRun& run, const TextPlace& place, double left) {
  const double part = !run.bound_right ? 0 : run.bound_left ? 0.5 : 1;
  const TextAnchor anchor = !run.bound_right ? TextAnchor::start
                            : run.bound_left ? TextAnchor::middle
                                             : TextAnchor::end;
  append_run(svg, run, place, left + (run.x + part * run.width) * place.size, anchor);
}

void append_stroke(std::string& svg, const TextStroke& stroke, const TextPlace& place, double left) {
  svg += "<path class=\"stroke\"";
  append_attribute(svg, "stroke-width", std::max(stroke.width * place.size, 0.8));
  if (!place.colour.empty()) svg += " style=\"stroke:" + std::string(place.colour) + "\"";
  svg += " d=\"";
  for (std::size_t i = 0; i < stroke.points.size(); ++i) {
    svg += i == 0 ? 'M' : 'L';
    append_number(svg, left + stroke.points[i].first * place.size);
    svg += ' ';
    append_number(svg, place.y + stroke.points[i].second * place.size);
  }
  svg += "\"/>\n";
}

void append_element(std::string& svg, const TextLayout& layout, const TextPlace& place) {
  if (layout.is_one_run()) return append_run(svg, layout.runs[0], place, place.x, place.anchor);
  const double part = place.anchor == TextAnchor::start ? 0 : place.anchor == TextAnchor::middle ? 0.5 : 1;
  const double left = place.x - part * layout.width * place.size;
  for (const LetterRun& run : layout.runs) append_bound(svg, run, place, left);
  for (const TextStroke& stroke : layout.strokes) append_stroke(svg, stroke, place, left);
}

}  // namespace

TextExtent tlatex_extent(std::string_view tlatex, double size) {
  const TextLayout layout = lay_out_tlatex(tlatex);
  return {layout.width * size, layout.up * size, layout.down * size};
}

void append_tlatex(std::string& svg, std::string_view tlatex, const TextPlace& place) {
  if (tlatex.empty()) return;
  if (place.rotate != 0) {
    svg += "<g transform=\"rotate(";
    append_number(svg, place.rotate);
    svg += ' ';
    append_number(svg, place.x);
    svg += ' ';
    append_number(svg, place.y);
    svg += ")\">";
  }
  append_element(svg, lay_out_tlatex(tlatex), place);
  if (place.rotate != 0) svg += "</g>\n";
}

}  // namespace tfilefs
