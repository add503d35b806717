// SPDX-License-Identifier: Apache-2.0
#include "plot/svg_drawing.h"

#include <array>
#include <cstdio>

namespace tfilefs {

void SvgDrawing::line(double x1, double y1, double x2, double y2, std::string_view style, std::string_view more) {
  svg += "<line";
  append_attribute(svg, "x1", x1);
  append_attribute(svg, "y1", y1);
  append_attribute(svg, "x2", x2);
  append_attribute(svg, "y2", y2);
  svg += " class=\"";
  svg += style;
  svg += '"';
  svg += more;
  svg += "/>\n";
}

void SvgDrawing::rect(double x, double y, double width, double height, std::string_view more) {
  svg += "<rect";
  append_attribute(svg, "x", x);
  append_attribute(svg, "y", y);
  append_attribute(svg, "width", width);
  append_attribute(svg, "height", height);
  svg += ' ';
  svg += more;
  svg += "/>\n";
}

void SvgDrawing::move_to(double x, double y, bool begins) {
  svg += begins ? 'M' : 'L';
  append_number(svg, x);
  svg += ' ';
  append_number(svg, y);
}

std::string colour_text(std::uint32_t rgb) {
  std::array<char, 8> text;
  std::snprintf(text.data(), text.size(), "#%06x", rgb & 0xFFFFFFu);
  return text.data();
}

std::string line_style(const tfile::PlotLook& look) {
  std::string style;
  if (look.line) style += "stroke:" + colour_text(*look.line) + ";";
  if (look.is_dashed) style += "stroke-dasharray:9 5;";
  if (look.is_dotted) style += "stroke-dasharray:2 4;";
  return style.empty() ? style : " style=\"" + style + "\"";
}

std::string fill_style(const tfile::PlotLook& look) {
  if (!look.fill) return {};
  return " style=\"fill:" + colour_text(*look.fill) + ";fill-opacity:" + (look.is_hatched ? ".35" : "1") + "\"";
}

std::string mark_style(const tfile::PlotLook& look) {
  return look.mark ? " style=\"fill:" + colour_text(*look.mark) + "\"" : std::string();
}

}  // namespace tfilefs
