// SPDX-License-Identifier: Apache-2.0
#include "view/plot_svg.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string_view>
#include <utility>

#include "view/axis_ticks.h"
#include "view/tlatex.h"

namespace tfilefs {
namespace {

using tfile::Plot;
using tfile::PlotAxis;
using tfile::PlotBins;
using tfile::PlotPoints;
using tfile::PlotPolygons;

constexpr double kWidth = 960, kHeight = 640;
constexpr double kLeft = 112, kTop = 64, kBottom = 88, kRight = 40, kRightWithScale = 148;

// More cells or points than this are not told apart at this size, and a browser would be slow with them.
constexpr std::size_t kCellsAcross = 240, kPointsMax = 20'000, kStepsMax = 4'000, kErrorBarsMax = 1'000;
constexpr std::size_t kMarksMax = 400, kLabelsMax = 40, kOutlinePointsMax = 200'000;

constexpr std::string_view kStyle = R"(<style>
text{font-family:"Helvetica Neue",Helvetica,Arial,"Liberation Sans",sans-serif;fill:#222}
.title{font-size:24px;font-weight:600}.axis{font-size:20px}.tick{font-size:16px}.note{font-size:15px;fill:#555}
.frame{fill:none;stroke:#222;stroke-width:1.5}.mark{stroke:#222;stroke-width:1.2}.grid{stroke:#e6e6e6;stroke-width:1}
.fill{fill:#1f5fa8;fill-opacity:.14;stroke:none}.line{fill:none;stroke:#1f5fa8;stroke-width:2;stroke-linejoin:round}
.outline{stroke:#fff;stroke-width:.5}.error{fill:none;stroke:#1f5fa8;stroke-width:1.5}.point{fill:#1f5fa8}
</style>
)";

// Fixed notation with at most two decimals: more than a screen shows.
void append(std::string& to, double value) {
  if (!std::isfinite(value)) value = 0;
  std::array<char, 400> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                          std::round(value * 100) / 100 + 0.0, std::chars_format::fixed, 2);
  std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  while (text.ends_with('0')) text.remove_suffix(1);
  if (text.ends_with('.')) text.remove_suffix(1);
  to += text == "-0" ? "0" : text;
}

void append_attribute(std::string& to, std::string_view name, double value) {
  to += ' ';
  to += name;
  to += "=\"";
  append(to, value);
  to += '"';
}

// An axis on the page: `begin` and `end` are the places of `low` and `high`.
struct Scale {
  double low = 0, high = 1, begin = 0, end = 1;
  double at(double value) const {
    const double place = begin + (value - low) / (high - low) * (end - begin);
    const double limit = 10 * kWidth;  // outside of the page, and still a number that browsers take
    return std::clamp(std::isfinite(place) ? place : begin, -limit, limit);
  }
};

// A range that has an extent, whatever the numbers.
Scale scale_of(double low, double high, double begin, double end) {
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) low = 0, high = 1;
  if (low == high) {
    const double room = low == 0 ? 1 : std::abs(low) / 2;
    low -= room;
    high += room;
  }
  // The whole range of a double does not fit into one.
  constexpr double kMax = std::numeric_limits<double>::max() / 4;
  return {std::max(low, -kMax), std::min(high, kMax), begin, end};
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

class Drawing {
 public:
  explicit Drawing(const Plot& plot) : plot_(plot) {}

  std::string draw() {
    svg_ =
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 640" width="960" height="640" role="img" xml:space="preserve">)";
    svg_ += '\n';
    svg_ += kStyle;
    svg_ += R"(<rect width="960" height="640" fill="#fff"/>)";
    svg_ += '\n';
    text(plot_.title, kWidth / 2, 38, "title", "middle");
    for (const auto& layer : plot_.layers) std::visit([this](const auto& drawn) { this->layer(drawn); }, layer);
    svg_ += "</svg>\n";
    return std::move(svg_);
  }

 private:
  void text(std::string_view tlatex, double x, double y, std::string_view style, std::string_view anchor,
            double rotate = 0) {
    if (tlatex.empty()) return;
    svg_ += "<text";
    append_attribute(svg_, "x", x);
    append_attribute(svg_, "y", y);
    svg_ += " class=\"";
    svg_ += style;
    svg_ += "\" text-anchor=\"";
    svg_ += anchor;
    svg_ += '"';
    if (rotate != 0) {
      svg_ += " transform=\"rotate(";
      append(svg_, rotate);
      svg_ += ' ';
      append(svg_, x);
      svg_ += ' ';
      append(svg_, y);
      svg_ += ")\"";
    }
    svg_ += '>';
    append_tlatex(svg_, tlatex);
    svg_ += "</text>\n";
  }

  void line(double x1, double y1, double x2, double y2, std::string_view style) {
    svg_ += "<line";
    append_attribute(svg_, "x1", x1);
    append_attribute(svg_, "y1", y1);
    append_attribute(svg_, "x2", x2);
    append_attribute(svg_, "y2", y2);
    svg_ += " class=\"";
    svg_ += style;
    svg_ += "\"/>\n";
  }

  void rect(double x, double y, double width, double height, std::string_view more) {
    svg_ += "<rect";
    append_attribute(svg_, "x", x);
    append_attribute(svg_, "y", y);
    append_attribute(svg_, "width", width);
    append_attribute(svg_, "height", height);
    svg_ += ' ';
    svg_ += more;
    svg_ += "/>\n";
  }

  void move_to(double x, double y, bool begins) {
    svg_ += begins ? 'M' : 'L';
    append(svg_, x);
    svg_ += ' ';
    append(svg_, y);
  }

  // --- axes ---

  void clip() {
    if (is_framed_) return;
    svg_ += "<clipPath id=\"frame\">";
    rect(x_.begin, y_.end, x_.end - x_.begin, y_.begin - y_.end, "");
    svg_ += "</clipPath>\n";
  }

  void grid() {
    for (const Tick& tick : ticks(y_.low, y_.high, 8))
      line(x_.begin, y_.at(tick.value), x_.end, y_.at(tick.value), "grid");
  }

  // Frame, ticks, labels and titles; behind everything else is the grid, on top of it this.
  void axes(const PlotAxis& x, const PlotAxis& y) {
    if (std::exchange(is_framed_, true)) return;
    rect(x_.begin, y_.end, x_.end - x_.begin, y_.begin - y_.end, "class=\"frame\"");
    const bool tilted = x_axis(x);
    y_axis(y);
    text(x.title, x_.end, tilted ? kHeight - 12 : y_.begin + 62, "axis", "end");
    text(y.title, 34, y_.end, "axis", "end", -90);
  }

  // Whether its labels are tilted.
  bool x_axis(const PlotAxis& axis) {
    if (!axis.labels.empty()) return x_labels(axis);
    const auto marks = axis.is_time ? time_ticks(x_.low, x_.high, axis.time_offset, 7) : ticks(x_.low, x_.high, 9);
    for (const Tick& tick : marks) {
      const double at = x_.at(tick.value);
      line(at, y_.begin, at, y_.begin - 9, "mark");
      text(tick.label, at, y_.begin + 24, "tick", "middle");
    }
    return false;
  }

  bool x_labels(const PlotAxis& axis) {
    std::size_t longest = 0;
    for (const std::string& label : axis.labels) longest = std::max(longest, label.size());
    const std::size_t step = (axis.labels.size() + kLabelsMax - 1) / kLabelsMax;
    const double room = (x_.end - x_.begin) / static_cast<double>(axis.labels.size()) * static_cast<double>(step);
    constexpr double kLetter = 8;  // of the ticks' font, on average
    const bool tilted = static_cast<double>(longest) * kLetter > room;
    for (std::size_t i = 0; i < axis.labels.size(); i += step) {
      const double at = x_.at((axis.edges[i] + axis.edges[i + 1]) / 2);
      if (tilted)
        text(shortened(axis.labels[i], 14), at + 4, y_.begin + 16, "tick", "end", -32);
      else
        text(axis.labels[i], at, y_.begin + 24, "tick", "middle");
    }
    return tilted;
  }

  void y_axis(const PlotAxis& axis) {
    if (!axis.labels.empty()) {
      const std::size_t step = (axis.labels.size() + kLabelsMax - 1) / kLabelsMax;
      for (std::size_t i = 0; i < axis.labels.size(); i += step)
        text(shortened(axis.labels[i], 10), x_.begin - 8, y_.at((axis.edges[i] + axis.edges[i + 1]) / 2) + 5, "tick",
             "end");
      return;
    }
    for (const Tick& tick : ticks(y_.low, y_.high, 8)) {
      const double at = y_.at(tick.value);
      line(x_.begin, at, x_.begin + 9, at, "mark");
      text(tick.label, x_.begin - 8, at + 5.5, "tick", "end");
    }
  }

  static std::string shortened(const std::string& label, std::size_t size_max) {
    if (label.size() <= size_max + 2) return label;
    std::size_t size = size_max;
    while (size > 0 && (static_cast<unsigned char>(label[size]) & 0xC0) == 0x80) --size;
    return label.substr(0, size) + "\u2026";
  }

  void place(double x_low, double x_high, double y_low, double y_high, double right) {
    if (is_placed_) return;
    is_placed_ = true;
    x_ = scale_of(x_low, x_high, kLeft, kWidth - right);
    y_ = scale_of(y_low, y_high, kHeight - kBottom, kTop);
  }

  // --- one dimension ---

  void layer(const PlotBins& bins) {
    if (bins.dimensions == 2) return map(bins);
    if (bins.x.edges.size() < 2 || bins.values.size() + 1 != bins.x.edges.size()) return;
    Range range;
    for (std::size_t i = 0; i < bins.values.size(); ++i) {
      const double error = bins.errors.empty() ? 0 : bins.errors[i];
      if (bins.is_profile && bins.values[i] == 0 && error == 0) continue;  // nothing was filled here
      range.add(bins.values[i] - error);
      range.add(bins.values[i] + error);
    }
    if (!bins.is_profile) range.add(0);
    const double room = 0.06 * (range.high - range.low);
    place(bins.x.edges.front(), bins.x.edges.back(), range.low < 0 || bins.is_profile ? range.low - room : 0,
          range.high + room, kRight);
    grid();
    clip();
    svg_ += "<g clip-path=\"url(#frame)\">\n";
    const bool as_points = bins.is_profile || (!bins.errors.empty() && bins.values.size() <= kErrorBarsMax);
    if (!bins.is_profile) steps(bins, !as_points);
    if (as_points) bin_points(bins);
    svg_ += "</g>\n";
    axes(bins.x, bins.y);
    statistics(bins);
  }

  void steps(const PlotBins& bins, bool filled) {
    // Bins narrower than a line are drawn as the range of their values.
    const std::size_t together = (bins.values.size() + kStepsMax - 1) / kStepsMax;
    std::string path;
    svg_.swap(path);
    for (std::size_t i = 0; i < bins.values.size(); i += together) {
      const std::size_t end = std::min(i + together, bins.values.size());
      Range values;
      for (std::size_t j = i; j < end; ++j) values.add(bins.values[j]);
      if (values.low > values.high) values.low = values.high = 0;
      move_to(x_.at(bins.x.edges[i]), y_.at(values.high), i == 0);
      if (together > 1) move_to(x_.at(bins.x.edges[i]), y_.at(values.low), false);
      move_to(x_.at(bins.x.edges[end]), y_.at(values.high), false);
    }
    svg_.swap(path);
    const double zero = std::clamp(y_.at(0), y_.end, y_.begin);
    if (filled) {
      svg_ += "<path class=\"fill\" d=\"" + path;
      move_to(x_.end, zero, false);
      move_to(x_.begin, zero, false);
      svg_ += "Z\"/>\n";
    }
    svg_ += "<path class=\"line\" d=\"" + path + "\"/>\n";
  }

  void bin_points(const PlotBins& bins) {
    const bool wide = bins.values.size() <= kMarksMax;
    for (std::size_t i = 0; i < std::min(bins.values.size(), kPointsMax); ++i) {
      const double value = bins.values[i], error = bins.errors.empty() ? 0 : bins.errors[i];
      if (!std::isfinite(value) || (value == 0 && error == 0)) continue;
      const double middle = (bins.x.edges[i] + bins.x.edges[i + 1]) / 2;
      error_bar(middle, value - error, middle, value + error);
      if (bins.is_profile) error_bar(bins.x.edges[i], value, bins.x.edges[i + 1], value);
      mark(middle, value, wide ? 3.5 : 1.5);
    }
  }

  void error_bar(double x1, double y1, double x2, double y2) {
    line(x_.at(x1), y_.at(y1), x_.at(x2), y_.at(y2), "error");
  }

  void mark(double x, double y, double radius) {
    svg_ += "<circle class=\"point\"";
    append_attribute(svg_, "cx", x_.at(x));
    append_attribute(svg_, "cy", y_.at(y));
    append_attribute(svg_, "r", radius);
    svg_ += "/>\n";
  }

  void statistics(const PlotBins& bins) {
    if (bins.entries == 0) return;
    std::array<char, 160> note;
    if (bins.deviation > 0 && !bins.is_profile) {
      std::snprintf(note.data(), note.size(), "%.10g entries, mean %.4g, std dev %.4g", bins.entries, bins.mean,
                    bins.deviation);
    } else {
      std::snprintf(note.data(), note.size(), "%.10g entries", bins.entries);
    }
    text(note.data(), x_.end, kTop - 8, "note", "end");
  }

  // --- two dimensions ---

  // The colours of viridis at nine places, even steps of lightness for everybody's eyes and printers.
  static std::array<double, 3> colour(double part) {
    static constexpr std::array<std::array<double, 3>, 9> kStops = {{{68, 1, 84},
                                                                     {71, 44, 122},
                                                                     {59, 81, 139},
                                                                     {44, 113, 142},
                                                                     {33, 144, 141},
                                                                     {39, 173, 129},
                                                                     {92, 200, 99},
                                                                     {170, 220, 50},
                                                                     {253, 231, 37}}};
    const double place = std::clamp(part, 0.0, 1.0) * (kStops.size() - 1);
    const auto i = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
    std::array<double, 3> mixed;
    for (std::size_t c = 0; c < 3; ++c)
      mixed[c] = kStops[i][c] + (kStops[i + 1][c] - kStops[i][c]) * (place - static_cast<double>(i));
    return mixed;
  }
  static std::string fill(double part) {
    const auto rgb = colour(part);
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "fill=\"#%02x%02x%02x\"", static_cast<unsigned>(std::lround(rgb[0])),
                  static_cast<unsigned>(std::lround(rgb[1])), static_cast<unsigned>(std::lround(rgb[2])));
    return text.data();
  }

  // Cells that would be smaller than a few units are drawn together, as their largest.
  struct Coarse {
    std::vector<double> x, y;  // edges
    std::vector<double> values;
  };
  static Coarse coarse(const PlotBins& bins) {
    const std::size_t nx = bins.x.edges.size() - 1, ny = bins.y.edges.size() - 1;
    const std::size_t sx = (nx + kCellsAcross - 1) / kCellsAcross, sy = (ny + kCellsAcross - 1) / kCellsAcross;
    Coarse cells;
    for (std::size_t i = 0; i < nx; i += sx) cells.x.push_back(bins.x.edges[i]);
    for (std::size_t i = 0; i < ny; i += sy) cells.y.push_back(bins.y.edges[i]);
    const std::size_t width = cells.x.size(), height = cells.y.size();
    cells.x.push_back(bins.x.edges.back());
    cells.y.push_back(bins.y.edges.back());
    cells.values.assign(width * height, 0);
    for (std::size_t i = 0; i < nx; ++i) {
      for (std::size_t j = 0; j < ny; ++j) {
        double& cell = cells.values[i / sx * height + j / sy];
        const double value = bins.values[i * ny + j];
        if (std::isfinite(value) && (cell == 0 || value > cell)) cell = value;
      }
    }
    return cells;
  }

  void map(const PlotBins& bins) {
    if (bins.x.edges.size() < 2 || bins.y.edges.size() < 2 ||
        bins.values.size() != (bins.x.edges.size() - 1) * (bins.y.edges.size() - 1))
      return;
    const Coarse cells = coarse(bins);
    Range range;
    range.add(0);
    for (const double value : cells.values) range.add(value);
    // What was filled stands out from what was not where all of it is far from zero.
    const Scale z = scale_of(range.low, range.high, 0, 1);
    place(bins.x.edges.front(), bins.x.edges.back(), bins.y.edges.front(), bins.y.edges.back(), kRightWithScale);
    clip();
    svg_ += "<g clip-path=\"url(#frame)\" shape-rendering=\"crispEdges\">\n";
    const std::size_t height = cells.y.size() - 1;
    for (std::size_t i = 0; i + 1 < cells.x.size(); ++i) {
      for (std::size_t j = 0; j < height;) {
        const double value = cells.values[i * height + j];
        std::size_t end = j + 1;  // equal neighbours are one rectangle
        while (end < height && cells.values[i * height + end] == value) ++end;
        if (value != 0) {
          const double left = x_.at(cells.x[i]), top = y_.at(cells.y[end]);
          rect(left, top, x_.at(cells.x[i + 1]) - left, y_.at(cells.y[j]) - top, fill(z.at(value)));
        }
        j = end;
      }
    }
    svg_ += "</g>\n";
    axes(bins.x, bins.y);
    colour_scale(z, bins.value_title);
    statistics(bins);
  }

  void layer(const PlotPolygons& bins) {
    if (bins.x.edges.size() < 2 || bins.y.edges.size() < 2) return;
    Range range;
    range.add(0);
    for (const auto& polygon : bins.polygons) range.add(polygon.value);
    const Scale z = scale_of(range.low, range.high, 0, 1);
    place(bins.x.edges.front(), bins.x.edges.back(), bins.y.edges.front(), bins.y.edges.back(), kRightWithScale);
    clip();
    svg_ += "<g clip-path=\"url(#frame)\">\n";
    std::size_t points = 0;
    for (const auto& polygon : bins.polygons) {
      const std::size_t n = std::min(polygon.xs.size(), polygon.ys.size());
      if (n < 3 || (points += n) > kOutlinePointsMax) continue;
      svg_ += "<path class=\"outline\" ";
      svg_ += polygon.value != 0 ? fill(z.at(polygon.value)) : "fill=\"none\"";
      svg_ += " d=\"";
      for (std::size_t i = 0; i < n; ++i) move_to(x_.at(polygon.xs[i]), y_.at(polygon.ys[i]), i == 0);
      svg_ += "Z\"/>\n";
    }
    svg_ += "</g>\n";
    axes(bins.x, bins.y);
    colour_scale(z, bins.value_title);
    PlotBins counted;
    counted.entries = bins.entries;
    statistics(counted);
  }

  void colour_scale(const Scale& z, const std::string& title) {
    constexpr int kSteps = 64;
    const double left = x_.end + 20, width = 22, height = (y_.begin - y_.end) / kSteps;
    svg_ += "<g shape-rendering=\"crispEdges\">\n";
    for (int i = 0; i < kSteps; ++i) {
      rect(left, y_.begin - height * (i + 1), width, height + 0.5, fill((i + 0.5) / kSteps));
    }
    svg_ += "</g>\n";
    rect(left, y_.end, width, y_.begin - y_.end, "class=\"frame\"");
    const Scale along{z.low, z.high, y_.begin, y_.end};
    for (const Tick& tick : ticks(z.low, z.high, 8)) {
      const double at = along.at(tick.value);
      line(left + width - 6, at, left + width, at, "mark");
      text(tick.label, left + width + 6, at + 5.5, "tick", "start");
    }
    text(title, kWidth - 14, y_.end, "axis", "end", -90);
  }

  // --- points and curves ---

  void layer(const PlotPoints& points) {
    const std::size_t n = std::min(points.xs.size(), points.ys.size());
    const auto error = [](const std::vector<double>& errors, std::size_t i) {
      return i < errors.size() ? errors[i] : 0;
    };
    Range x, y;
    for (std::size_t i = 0; i < n; ++i) {
      x.add(points.xs[i] - error(points.x_low, i));
      x.add(points.xs[i] + error(points.x_high, i));
      y.add(points.ys[i] - error(points.y_low, i));
      y.add(points.ys[i] + error(points.y_high, i));
    }
    const bool has_bins = points.x.edges.size() > 1;
    const double x_room = has_bins || points.is_line ? 0 : 0.05 * (x.high - x.low), y_room = 0.07 * (y.high - y.low);
    place(has_bins ? points.x.edges.front() : x.low - x_room, has_bins ? points.x.edges.back() : x.high + x_room,
          y.low - y_room, y.high + y_room, kRight);
    grid();
    clip();
    svg_ += "<g clip-path=\"url(#frame)\">\n";
    // All of a long run of points by taking each so many.
    const std::size_t step = std::max<std::size_t>((n + kPointsMax - 1) / kPointsMax, 1);
    if (points.is_line) {
      curve(points, n, step);
    } else {
      for (std::size_t i = 0; i < n; i += step) {
        if (!std::isfinite(points.xs[i]) || !std::isfinite(points.ys[i])) continue;
        if (!points.x_low.empty() || !points.x_high.empty())
          error_bar(points.xs[i] - error(points.x_low, i), points.ys[i], points.xs[i] + error(points.x_high, i),
                    points.ys[i]);
        if (!points.y_low.empty() || !points.y_high.empty())
          error_bar(points.xs[i], points.ys[i] - error(points.y_low, i), points.xs[i],
                    points.ys[i] + error(points.y_high, i));
        mark(points.xs[i], points.ys[i], n <= kMarksMax ? 4 : 1.8);
      }
    }
    svg_ += "</g>\n";
    axes(points.x, points.y);
  }

  void curve(const PlotPoints& points, std::size_t n, std::size_t step) {
    svg_ += "<path class=\"line\" d=\"";
    bool begins = true;
    for (std::size_t i = 0; i < n; i += step) {
      const bool is_there = std::isfinite(points.xs[i]) && std::isfinite(points.ys[i]);
      if (is_there) move_to(x_.at(points.xs[i]), y_.at(points.ys[i]), begins);
      begins = !is_there;
    }
    svg_ += "\"/>\n";
  }

  const Plot& plot_;
  std::string svg_;
  Scale x_, y_;
  bool is_placed_ = false, is_framed_ = false;
};

}  // namespace

std::string plot_svg(const Plot& plot) { return Drawing(plot).draw(); }

}  // namespace tfilefs
