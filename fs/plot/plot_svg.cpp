// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "plot/plot_frame.h"
#include "plot/plot_layers.h"
#include "query/pictures.h"

namespace tfilefs {
namespace {

using tfile::Plot;
using tfile::PlotBins;
using tfile::PlotPoints;
using tfile::PlotPolygons;

constexpr double kWidth = 960, kHeight = 640;
constexpr int kPadsDeep = 8;           // pads within pads; ROOT's own canvases have one or two
constexpr std::size_t kPadsMax = 400;  // more are smaller than their ticks

constexpr std::string_view kStyle = R"(<style>
text{font-family:Arial,"Liberation Sans",Helvetica,sans-serif;fill:#222;white-space:pre;font-kerning:none}
.note{fill:#555}.stroke{fill:none;stroke:#222;stroke-linejoin:round;stroke-linecap:round}
.frame{fill:none;stroke:#222;stroke-width:1.5}.mark{stroke:#222;stroke-width:1.2}.grid{stroke:#e6e6e6;stroke-width:1}
.fill{fill:#1f5fa8;fill-opacity:.14;stroke:none}.line{fill:none;stroke:#1f5fa8;stroke-width:2;stroke-linejoin:round}
.outline{stroke:#fff;stroke-width:.5}.error{fill:none;stroke:#1f5fa8;stroke-width:1.5}.point{fill:#1f5fa8}
.box{stroke:#222;stroke-width:1}.legend{fill:#fff;fill-opacity:.85;stroke:#999;stroke-width:1}
</style>
)";

class DrawnPage {
 public:
  // Draws a plot; returns the page that it took.
  PlotPage draw(const Plot& plot, PlotPage page, int depth);

  std::string take() { return std::move(to_.svg); }

 private:
  static PlotRanges ranges_of(const Plot& plot);

  // Draws pads at their places, all with letters of one size, smaller the more there are.
  PlotPage pads(const Plot& plot, PlotPage page, int depth);
  static std::string value_title(const Plot& plot);
  static std::string statistics(const Plot& plot);

  SvgDrawing to_;
  std::size_t frames_ = 0;
};

PlotPage DrawnPage::draw(const Plot& plot, PlotPage page, int depth) {
  if (!plot.pads.empty()) return pads(plot, page, depth);
  const tfile::PlotAxis none;
  const tfile::PlotAxis *x = &none, *y = &none;
  if (!plot.layers.empty()) {
    std::visit([&](const auto& first) { x = &first.x, y = &first.y; }, plot.layers[0]);
  } else if (plot.notes.empty()) {
    to_.text(plot.title, {page.width / 2, 38, kTitleSize, "title", TextAnchor::middle});
    if (!plot.left_out.empty())
      to_.text(plot.left_out + " is not drawn",
               {page.width / 2, page.height / 2, kAxisSize, "axis", TextAnchor::middle});
    return page;
  }
  const PlotRanges ranges = ranges_of(plot);
  const PlotFrame frame(to_, plot, *x, *y, ranges, page, "frame" + std::to_string(frames_++));
  frame.begin(!ranges.has_colours);
  for (const auto& layer : plot.layers) std::visit([&](const auto& drawn) { draw_layer(frame, drawn); }, layer);
  frame.end();
  if (ranges.has_colours) frame.colour_scale(value_title(plot));
  draw_notes(frame, plot);
  if (!plot.layers.empty()) frame.note(statistics(plot));
  return frame.page();
}

PlotRanges DrawnPage::ranges_of(const Plot& plot) {
  PlotRanges ranges;
  ranges.x.is_log = plot.log_x;
  ranges.y.is_log = plot.log_y;
  ranges.z.is_log = plot.log_z;
  ranges.is_shared = plot.is_shared;
  bool is_first = true;
  for (const auto& layer : plot.layers)
    std::visit([&](const auto& drawn) { add_ranges(drawn, std::exchange(is_first, false), ranges); }, layer);
  return ranges;
}

PlotPage DrawnPage::pads(const Plot& plot, PlotPage page, int depth) {
  if (depth >= kPadsDeep) return page;
  const std::size_t count = std::min(plot.pads.size(), kPadsMax);
  double smallest = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& pad = plot.pads[i];
    smallest = std::min(smallest, std::max(pad.x2 - pad.x1, 0.0));
  }
  const double scale =
      std::clamp(std::min(1.3 / std::sqrt(static_cast<double>(count)), 1.0), std::min(0.3, smallest), 1.0);
  for (std::size_t i = 0; i < count && frames_ < kPadsMax; ++i) {
    const auto& pad = plot.pads[i];
    const double width = (pad.x2 - pad.x1) * page.width, height = (pad.y2 - pad.y1) * page.height;
    constexpr double kLeast = 20;  // units; a smaller pad would show nothing
    if (!(width > kLeast) || !(height > kLeast)) continue;
    to_.svg += "<g transform=\"translate(";
    append_number(to_.svg, pad.x1 * page.width);
    to_.svg += ' ';
    append_number(to_.svg, (1 - pad.y2) * page.height);
    to_.svg += ") scale(";
    // Frames keep some size even in a small pad.
    const double own = std::min({scale, width / 360, height / 260});
    append_number(to_.svg, std::max(own, 0.05));
    to_.svg += ")\">\n";
    const double shown = std::max(std::round(own * 100) / 100, 0.05);
    draw(pad.plot, {width / shown, height / shown, false}, depth + 1);
    to_.svg += "</g>\n";
  }
  return page;
}

std::string DrawnPage::value_title(const Plot& plot) {
  for (const auto& layer : plot.layers) {
    const std::string& title =
        std::visit([](const auto& drawn) -> const std::string& { return drawn.value_title; }, layer);
    if (!title.empty()) return title;
  }
  return {};
}

std::string DrawnPage::statistics(const Plot& plot) {
  double entries = 0, mean = 0, deviation = 0;
  if (const auto* bins = std::get_if<PlotBins>(plot.layers.data())) {
    entries = bins->entries;
    if (!bins->is_profile) mean = bins->mean, deviation = bins->deviation;
  } else if (const auto* polygons = std::get_if<PlotPolygons>(plot.layers.data())) {
    entries = polygons->entries;
  }
  std::array<char, 160> note;
  if (entries == 0) return {};
  if (deviation > 0)
    std::snprintf(note.data(), note.size(), "%.10g entries, mean %.4g, std dev %.4g", entries, mean, deviation);
  else
    std::snprintf(note.data(), note.size(), "%.10g entries", entries);
  return note.data();
}

}  // namespace

bool has_pictures() { return true; }

std::string plot_svg(const Plot& plot) {
  PlotPage page{kWidth, kHeight, true};
  if (!plot.pads.empty() && plot.aspect > 0) page.height = std::clamp(kWidth / plot.aspect, kHeight / 2, 2 * kHeight);
  DrawnPage drawing;
  page = drawing.draw(plot, page, 0);
  std::string size;
  append_attribute(size, "width", std::ceil(page.width));
  append_attribute(size, "height", std::ceil(page.height));
  std::string svg = R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 )";
  append_number(svg, std::ceil(page.width));
  svg += ' ';
  append_number(svg, std::ceil(page.height));
  svg += '"' + size + " role=\"img\" xml:space=\"preserve\">\n";
  svg += kStyle;
  svg += "<rect" + size + " fill=\"#fff\"/>\n" + drawing.take() + "</svg>\n";
  return svg;
}

}  // namespace tfilefs
