// SPDX-License-Identifier: Apache-2.0
#include "view/tlatex.h"

#include <algorithm>
#include <utility>

#include "view/svg_text.h"
#include "view/tlatex_layout.h"

namespace tfilefs {
namespace {

constexpr std::pair<TextAnchor, std::string_view> kAnchors[] = {
    {TextAnchor::start, "start"}, {TextAnchor::middle, "middle"}, {TextAnchor::end, "end"}};

void append_looks(std::string& svg, const TextPiece& piece) {
  if (piece.italic) svg += " font-style=\"italic\"";
  if (piece.bold) svg += " font-weight=\"bold\"";
  if (!piece.colour.empty()) svg += " fill=\"" + std::string(piece.colour) + "\"";
}

// A single piece of plain text is set by the program that displays it, with the letter widths of its own font.
bool is_plain(const TextLayout& layout) {
  if (!layout.strokes.empty() || layout.pieces.size() > 1) return false;
  if (layout.pieces.empty()) return true;
  const TextPiece& piece = layout.pieces[0];
  return piece.size == 1 && piece.x == 0 && piece.y == 0;
}

void append_plain(std::string& svg, const TextLayout& layout, const TextPlace& place) {
  append_attribute(svg, "x", place.x);
  append_attribute(svg, "y", place.y);
  for (const auto& [anchor, name] : kAnchors) {
    if (anchor == place.anchor) svg += " text-anchor=\"" + std::string(name) + "\"";
  }
  if (!layout.pieces.empty()) append_looks(svg, layout.pieces[0]);
  svg += '>';
  if (!layout.pieces.empty()) svg += layout.pieces[0].escaped;
}

void append_pieces(std::string& svg, const TextLayout& layout, const TextPlace& place, double left) {
  svg += '>';
  for (const TextPiece& piece : layout.pieces) {
    svg += "<tspan";
    append_attribute(svg, "x", left + piece.x * place.size);
    append_attribute(svg, "y", place.y + piece.y * place.size);
    if (piece.size != 1) append_attribute(svg, "font-size", piece.size * place.size);
    append_looks(svg, piece);
    svg += '>' + piece.escaped + "</tspan>";
  }
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
  const double part = place.anchor == TextAnchor::start ? 0 : place.anchor == TextAnchor::middle ? 0.5 : 1;
  const double left = place.x - part * layout.width * place.size;
  const bool plain = is_plain(layout);
  svg += "<text class=\"" + std::string(place.style) + "\"";
  append_attribute(svg, "font-size", place.size);
  if (!place.colour.empty()) svg += " style=\"fill:" + std::string(place.colour) + "\"";
  plain ? append_plain(svg, layout, place) : append_pieces(svg, layout, place, left);
  svg += "</text>\n";
  if (plain) return;
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
