// SPDX-License-Identifier: Apache-2.0
#include "plot/plot_frame.h"

#include <algorithm>
#include <cmath>

#include "plot/plot_scale.h"

namespace tfilefs {
namespace {

constexpr double kLeft = 112, kTop = 64, kBottom = 88, kRight = 40, kScaleWidth = 108;
constexpr double kTitleRoom = 48;                     // for the title of y, left of its labels
constexpr double kScaleLabels = 48;                   // those of the colours begin so far behind the frame
constexpr double kEdge = 8;                           // of the page: nothing is written there
constexpr double kTitleBase = 38, kTitleBottom = 46;  // a note is below
constexpr double kLabelMin = 8;                       // the smallest legible text of labels
constexpr std::size_t kLabelBytesMax = 400;           // a longer name of a bin is cut; table.csv has it whole
constexpr double kLabelsMax = 1200;                   // the most that labels may make a page grow
constexpr double kShareMax = 0.45;                    // the share of labels, of a page that cannot grow

std::string shown_label(const std::string& label) {
  if (label.size() <= kLabelBytesMax) return label;
  std::size_t size = kLabelBytesMax;
  while (size > 0 && (static_cast<unsigned char>(label[size]) & 0xC0) == 0x80) --size;
  return label.substr(0, size) + "\u2026";
}

double widest(const std::vector<std::string>& labels, double size) {
  double width = 0;
  for (const std::string& label : labels) width = std::max(width, tlatex_extent(shown_label(label), size).width);
  return width;
}

// The size of letters with which a text has room.
double size_in(const std::string& text, double size, double width, double height = 1e9) {
  const TextExtent extent = tlatex_extent(text, size);
  const double share = std::min(width / std::max(extent.width, 1.0), height / std::max(extent.up + extent.down, 1.0));
  return size * std::clamp(share, 0.1, 1.0);
}

// Whether labels along x, about `room` apart, would touch.
bool overlap(const std::vector<Tick>& ticks, const Scale& scale) {
  double end = -1e9;
  for (const Tick& tick : ticks) {
    if (tick.label.empty()) continue;
    const double half = tlatex_extent(tick.label, kTickSize).width / 2, at = scale.at(tick.value);
    if (at - half < end + 8) return true;
    end = at + half;
  }
  return false;
}

std::pair<double, double> with_y_room(const PlotRanges& ranges, bool log) {
  double low = ranges.y.low, high = ranges.y.high;
  if (ranges.y.is_empty()) low = log ? 0.1 : 0, high = 1;
  if (log) {
    low = ranges.has_y_room ? low / 2 : low;
    high = ranges.has_y_room ? high * 2 : high;
  } else if (ranges.has_y_room) {
    if (ranges.has_zero) low = std::min(low, 0.0), high = std::max(high, 0.0);
    const double room = 0.06 * (high - low);
    if (!ranges.has_zero || low < 0) low -= room;
    if (!ranges.has_zero || high > 0) high += room;
  }
  return {low, high};
}

std::pair<double, double> with_x_room(const PlotRanges& ranges, bool log) {
  const double left = ranges.x.low, right = ranges.x.high;
  if (!ranges.has_x_room || ranges.x.is_empty()) return {left, right};
  if (log) return {left / 1.3, right * 1.3};
  const double room = 0.05 * (right - left);
  return {left - room, right + room};
}

}  // namespace

PlotFrame::PlotFrame(SvgDrawing& to, const tfile::Plot& plot, const tfile::PlotAxis& x, const tfile::PlotAxis& y,
                     const PlotRanges& ranges, PlotPage page, std::string clip)
    : to_(to), plot_(plot), x_axis_(x), y_axis_(y), page_(page), clip_(std::move(clip)) {
  lay_out(ranges);
}

void PlotFrame::lay_out(const PlotRanges& ranges) {
  const auto chosen = [](const tfile::PlotAxis& axis, std::pair<double, double> found) {
    if (axis.low && axis.high && *axis.low < *axis.high) return std::pair(*axis.low, *axis.high);
    return std::pair(axis.low.value_or(found.first), axis.high.value_or(found.second));
  };
  const auto [y_low, y_high] = chosen(y_axis_, with_y_room(ranges, plot_.log_y));
  const auto [x_low, x_high] = chosen(x_axis_, with_x_room(ranges, plot_.log_x));

  // The labels of y decide where the frame begins, those of x where it ends below.
  y_ = scale_of(y_low, y_high, page_.height - kBottom, kTop, plot_.log_y);
  const double wanted = kTitleRoom + y_labels_width() + 12;
  double margin = std::max(kLeft, std::min(wanted, page_.may_grow ? kLabelsMax : page_.width * kShareMax));
  if (page_.may_grow) page_.width += margin - kLeft;
  // A map without contents has no negative values.
  const bool is_empty = ranges.z.low == 0 && ranges.z.high == 0;
  const double z_high = is_empty ? 1 : ranges.z.high;
  double right_margin = kRight;
  if (ranges.has_colours) {
    z_ = scale_of(ranges.z.low, z_high, 1, 0, plot_.log_z);
    right_margin += std::max(kScaleWidth, kScaleLabels + z_labels_width() + kAxisSize - kRight + 16);
  }
  x_ = scale_of(x_low, x_high, margin, page_.width - right_margin, plot_.log_x);
  measure_x_labels();
  const double under = std::min(labels_height_ + 46, page_.may_grow ? kLabelsMax : page_.height * kShareMax);
  const double bottom = std::max(kBottom, under);
  if (page_.may_grow) page_.height += bottom - kBottom;
  y_.begin = page_.height - bottom;
  bottom_ = bottom - 26;
  z_ = scale_of(ranges.z.low, z_high, y_.begin, y_.end, plot_.log_z);
}

double PlotFrame::z_labels_width() const {
  double width = 0;
  for (const Tick& tick : z_ticks()) width = std::max(width, tlatex_extent(tick.label, kTickSize).width);
  return width;
}

std::vector<Tick> PlotFrame::z_ticks() const {
  return z_.is_log ? log_ticks(z_.low, z_.high) : ticks(z_.low, z_.high, 8);
}

double PlotFrame::y_labels_width() const {
  if (!y_axis_.labels.empty()) return widest(y_axis_.labels, kTickSize);
  double width = 0;
  for (const Tick& tick : y_ticks()) width = std::max(width, tlatex_extent(tick.label, kTickSize).width);
  return width;
}

void PlotFrame::measure_x_labels() {
  if (x_axis_.labels.empty()) return;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < x_axis_.labels.size(); ++i) {
    const double middle = (x_axis_.edges[i] + x_axis_.edges[i + 1]) / 2;
    shown += middle >= x_.low && middle <= x_.high;
  }
  const double room = (x_.end - x_.begin) / static_cast<double>(std::max<std::size_t>(shown, 1));
  labels_height_ = kTickSize + 10;
  // Side by side if they fit with somewhat smaller letters, else upright.
  constexpr double kSmaller = 11;
  const double width = widest(x_axis_.labels, 1);
  label_size_ = width > 0 ? std::min(kTickSize, (room - 6) / width) : kTickSize;
  if (label_size_ >= kSmaller) return;
  is_upright_ = true;
  label_step_ = room >= kLabelMin ? 1 : static_cast<std::size_t>(std::ceil(kLabelMin / room));
  label_size_ = std::clamp(room * static_cast<double>(label_step_) * 0.9, kLabelMin, kTickSize);
  labels_height_ = widest(x_axis_.labels, label_size_) + 16;
}

void PlotFrame::begin(bool with_grid) const {
  to_.svg += "<clipPath id=\"" + clip_ + "\">";
  to_.rect(x_.begin, y_.end, x_.end - x_.begin, y_.begin - y_.end, "");
  to_.svg += "</clipPath>\n";
  if (with_grid) {
    for (const Tick& tick : y_ticks()) {
      if (!tick.label.empty()) to_.line(x_.begin, y_.at(tick.value), x_.end, y_.at(tick.value), "grid");
    }
  }
  to_.svg += "<g clip-path=\"url(#" + clip_ + ")\">\n";
}

void PlotFrame::end() const {
  to_.svg += "</g>\n";
  to_.rect(x_.begin, y_.end, x_.end - x_.begin, y_.begin - y_.end, "class=\"frame\"");
  if (x_axis_.labels.empty())
    x_axis();
  else
    x_labels();
  y_axis();
  const double across = x_.end - kEdge, along = page_.height - y_.end - kEdge;
  to_.text(x_axis_.title,
           {x_.end, y_.begin + bottom_, size_in(x_axis_.title, kAxisSize, across), "axis", TextAnchor::end});
  to_.text(y_axis_.title, {34, y_.end, size_in(y_axis_.title, kAxisSize, along), "axis", TextAnchor::end, -90});
  const double size = size_in(plot_.title, kTitleSize, page_.width - 2 * kEdge, kTitleBottom);
  const double base = std::min(kTitleBase, kTitleBottom - tlatex_extent(plot_.title, size).down);
  to_.text(plot_.title, {page_.width / 2, base, size, "title", TextAnchor::middle});
}

std::vector<Tick> PlotFrame::x_ticks() const {
  if (x_.is_log) return log_ticks(x_.low, x_.high);
  std::vector<Tick> marks;
  for (int wanted = 9; wanted > 1; --wanted) {
    marks = x_axis_.is_time ? time_ticks(x_.low, x_.high, x_axis_.time_offset, wanted) : ticks(x_.low, x_.high, wanted);
    if (!overlap(marks, x_)) break;
  }
  return marks;
}

std::vector<Tick> PlotFrame::y_ticks() const {
  if (y_.is_log) return log_ticks(y_.low, y_.high);
  const double height = std::abs(y_.begin - y_.end);
  constexpr double kApart = 60;
  return ticks(y_.low, y_.high, std::clamp(static_cast<int>(height / kApart), 2, 8));
}

void PlotFrame::x_axis() const {
  for (const Tick& tick : x_ticks()) {
    const double at = x_.at(tick.value);
    to_.line(at, y_.begin, at, y_.begin - (tick.is_minor ? 5 : 9), "mark");
    to_.text(tick.label, {at, y_.begin + 24, kTickSize, "tick", TextAnchor::middle});
  }
}

void PlotFrame::x_labels() const {
  for (std::size_t i = 0; i < x_axis_.labels.size(); i += label_step_) {
    const double middle = (x_axis_.edges[i] + x_axis_.edges[i + 1]) / 2, at = x_.at(middle);
    if (middle < x_.low || middle > x_.high) continue;
    const std::string label = shown_label(x_axis_.labels[i]);
    if (is_upright_)
      to_.text(label, {at + label_size_ * 0.35, y_.begin + 8, label_size_, "tick", TextAnchor::end, -90});
    else
      to_.text(label, {at, y_.begin + 24, label_size_, "tick", TextAnchor::middle});
  }
}

void PlotFrame::y_axis() const {
  const double right = x_.begin - 8;
  if (y_axis_.labels.empty()) {
    for (const Tick& tick : y_ticks()) {
      const double at = y_.at(tick.value);
      to_.line(x_.begin, at, x_.begin + (tick.is_minor ? 5 : 9), at, "mark");
      to_.text(tick.label, {right, at + 5.5, kTickSize, "tick", TextAnchor::end});
    }
    return;
  }
  const double room = std::abs(y_.begin - y_.end) / static_cast<double>(y_axis_.labels.size());
  const std::size_t step = room >= kLabelMin ? 1 : static_cast<std::size_t>(std::ceil(kLabelMin / room));
  // Labels that do not fit are made smaller rather than cut.
  const double widest_label = widest(y_axis_.labels, 1), space = right - kTitleRoom / 2;
  const double fit = widest_label > 0 ? space / widest_label : kTickSize;
  const double size = std::clamp(std::min(room * static_cast<double>(step) * 0.95, fit), 4.0, kTickSize);
  for (std::size_t i = 0; i < y_axis_.labels.size(); i += step) {
    const double middle = (y_axis_.edges[i] + y_axis_.edges[i + 1]) / 2;
    if (middle < y_.low || middle > y_.high) continue;
    to_.text(shown_label(y_axis_.labels[i]), {right, y_.at(middle) + size * 0.35, size, "tick", TextAnchor::end});
  }
}

void PlotFrame::colour_scale(const std::string& title) const {
  constexpr int kSteps = 64;
  const double left = x_.end + 20, width = 22, height = (y_.begin - y_.end) / kSteps;
  to_.svg += "<g shape-rendering=\"crispEdges\">\n";
  for (int i = 0; i < kSteps; ++i)
    to_.rect(left, y_.begin - height * (i + 1), width, height + 0.5, "fill=\"" + viridis((i + 0.5) / kSteps) + "\"");
  to_.svg += "</g>\n";
  to_.rect(left, y_.end, width, y_.begin - y_.end, "class=\"frame\"");
  for (const Tick& tick : z_ticks()) {
    const double at = z_.at(tick.value);
    to_.line(left + width - (tick.is_minor ? 3 : 6), at, left + width, at, "mark");
    to_.text(tick.label, {x_.end + kScaleLabels, at + 5.5, kTickSize, "tick"});
  }
  const double along = page_.height - y_.end - kEdge;
  to_.text(title, {page_.width - 14, y_.end, size_in(title, kAxisSize, along), "axis", TextAnchor::end, -90});
}

void PlotFrame::note(std::string_view text) const {
  to_.text(text, {x_.end, kTop - 8, kNoteSize, "note", TextAnchor::end});
}

}  // namespace tfilefs
