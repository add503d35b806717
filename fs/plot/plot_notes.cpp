// SPDX-License-Identifier: Apache-2.0
// Drawn on top of the layers: texts, lines, boxes, the legend.
#include <algorithm>

#include "plot/plot_layers.h"

namespace tfilefs {
namespace {

using tfile::Plot;
using tfile::PlotLegendLine;
using tfile::PlotNote;

constexpr std::size_t kNotesMax = 1000, kLegendMax = 40;

class Notes {
 public:
  explicit Notes(const PlotFrame& frame) : frame_(frame) {}

  void draw(const PlotNote& note) const {
    SvgDrawing& to = frame_.to();
    const double x1 = x(note, note.x1), y1 = y(note, note.y1);
    if (note.kind == PlotNote::Kind::text) return text(note, x1, y1);
    const double x2 = x(note, note.x2), y2 = y(note, note.y2);
    if (note.kind == PlotNote::Kind::line) return to.line(x1, y1, x2, y2, "error", line_style(note.look));
    to.rect(std::min(x1, x2), std::min(y1, y2), std::abs(x2 - x1), std::abs(y2 - y1),
            note.look.fill ? "class=\"box\"" + fill_style(note.look) : "class=\"box\" fill=\"none\"");
  }

 private:
  double x(const PlotNote& note, double value) const {
    const Scale& s = frame_.x();
    return note.in_frame ? std::clamp(s.begin + value * (s.end - s.begin), 0.0, frame_.page().width) : s.at(value);
  }
  double y(const PlotNote& note, double value) const {
    const Scale& s = frame_.y();
    return note.in_frame ? std::clamp(s.begin + value * (s.end - s.begin), 12.0, frame_.page().height) : s.at(value);
  }
  void text(const PlotNote& note, double x, double y) const {
    constexpr double kSmallest = 10, kLargest = 40;
    const double size = note.size > 0 ? std::clamp(note.size * frame_.page().height, kSmallest, kLargest) : kTickSize;
    const std::string colour = note.look.line ? colour_text(*note.look.line) : std::string();
    const TextAnchor anchor = note.align < 0   ? TextAnchor::end
                              : note.align > 0 ? TextAnchor::middle
                                               : TextAnchor::start;
    frame_.to().text(note.text, {x, y, size, "axis", anchor, -note.angle, colour});
  }

  const PlotFrame& frame_;
};

void draw_sample(const PlotFrame& frame, const PlotLegendLine& line, double left, double y) {
  constexpr double kWidth = 34;
  SvgDrawing& to = frame.to();
  if (line.has_fill && line.look.fill) to.rect(left, y - 8, kWidth, 14, "class=\"box\"" + fill_style(line.look));
  if (line.has_line) to.line(left, y - 1, left + kWidth, y - 1, "error", line_style(line.look));
  if (!line.has_mark) return;
  to.svg += "<circle class=\"point\"" + mark_style(line.look);
  append_attribute(to.svg, "cx", left + kWidth / 2);
  append_attribute(to.svg, "cy", y - 1);
  to.svg += " r=\"4\"/>\n";
}

// At its own place as far as the frame has room there; else at the right end, where spectra usually leave some.
void draw_legend(const PlotFrame& frame, const Plot& plot) {
  const std::vector<PlotLegendLine>& lines = plot.legend;
  constexpr double kLine = 24, kSample = 44, kRoom = 10;
  double width = 0, height = kRoom;
  std::vector<double> bases;  // of each line, below the top
  for (std::size_t i = 0; i < std::min(lines.size(), kLegendMax); ++i) {
    const TextExtent extent = tlatex_extent(lines[i].text, kTickSize);
    width = std::max(width, extent.width + kSample);
    // A line with a fraction is higher than others.
    bases.push_back(height - kRoom + std::max(kLine * 0.85, extent.up + 4));
    height += std::max(kLine * 0.85, extent.up + 4) + std::max(kLine * 0.15, extent.down);
  }
  if (bases.empty()) return;
  const double box = width + 2 * kRoom;
  const Scale &x = frame.x(), &y = frame.y();
  double left = x.end - box - 12, top = y.end + 12;
  if (plot.legend_left) left = std::min(left, x.begin + *plot.legend_left * (x.end - x.begin));
  if (plot.legend_top)
    top = std::clamp(y.begin + *plot.legend_top * (y.end - y.begin), top, std::max(top, y.begin - height - 12));
  frame.to().rect(left, top, box, height, "class=\"legend\"");
  for (std::size_t i = 0; i < bases.size(); ++i) {
    const double base = top + bases[i];
    draw_sample(frame, lines[i], left + kRoom, base - 3);
    frame.to().text(lines[i].text, {left + kRoom + kSample, base, kTickSize, "tick"});
  }
}

}  // namespace

void draw_notes(const PlotFrame& frame, const Plot& plot) {
  const Notes notes(frame);
  for (std::size_t i = 0; i < std::min(plot.notes.size(), kNotesMax); ++i) notes.draw(plot.notes[i]);
  draw_legend(frame, plot);
}

}  // namespace tfilefs
