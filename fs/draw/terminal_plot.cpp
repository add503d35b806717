// SPDX-License-Identifier: Apache-2.0
#include "draw/terminal_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "printable.h"

namespace tfilefs {
namespace {

constexpr std::size_t kRows = 14, kRowsOfMap = 20, kMarginMin = 8;
constexpr const char* kEighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr const char* kShades[] = {" ", "░", "▒", "▓", "█"};

std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}
std::string right_aligned(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

// Neighbouring bins as one, so that there are at most so many.
std::size_t bins_together(std::size_t bins, std::size_t most) { return (bins + most - 1) / most; }

// Heights from 0 to 1 of values, or of their logarithms.
class Scale {
 public:
  Scale(const std::vector<double>& values, bool is_log) : is_log_(is_log) {
    least_ = is_log ? std::numeric_limits<double>::infinity() : 0;
    for (const double value : values) {
      if (!std::isfinite(value) || (is_log && value <= 0)) continue;
      least_ = std::min(least_, value);
      most_ = std::max(most_, value);
    }
    // In a logarithm, the lowest bar is to be seen.
    if (is_log) least_ = std::isfinite(least_) ? least_ / 2 : 1;
    if (most_ <= least_) most_ = least_ + 1;
  }
  double height(double value) const {
    if (!std::isfinite(value) || (is_log_ && value <= 0)) return 0;
    if (is_log_) return std::log(value / least_) / std::log(most_ / least_);
    return (value - least_) / (most_ - least_);
  }
  double least() const { return least_; }
  double most() const { return most_; }

 private:
  const bool is_log_;
  double least_ = 0, most_ = 0;
};

class TerminalPlot {
 public:
  TerminalPlot(const Drawing& drawing, std::size_t columns, bool is_log)
      : drawing_(drawing),
        histogram_(drawing.histogram),
        columns_(std::max<std::size_t>(columns, 40)),
        is_log_(is_log) {}

  std::string run() {
    text_ = printable(drawing_.title) + "\n";
    if (histogram_.dimensions() == 1) add_bars();
    if (histogram_.dimensions() == 2) add_map();
    add_statistics();
    return std::move(text_);
  }

 private:
  // ---- of one axis

  void add_bars() {
    const HistogramAxis& axis = histogram_.axes()[0];
    const auto bins = static_cast<std::size_t>(axis.bins);
    const std::size_t together = bins_together(bins, columns_ - 2 * kMarginMin);
    std::vector<double> bars;
    for (std::size_t bin = 0; bin < bins; bin += together) bars.push_back(bar(bin, std::min(bin + together, bins)));
    const Scale scale(bars, is_log_);
    const std::size_t width = std::max<std::size_t>(1, (columns_ - 2 * kMarginMin) / bars.size());
    const std::size_t margin =
        std::max({kMarginMin, short_number(scale.most()).size() + 1, short_number(scale.least()).size() + 1});
    for (std::size_t row = kRows; row-- > 0;) {
      const bool is_labelled = row == kRows - 1 || row == 0;
      const std::string label = row == kRows - 1 ? short_number(scale.most()) : short_number(scale.least());
      text_ += right_aligned(is_labelled ? label : "", margin) + (is_labelled ? " ┤" : " │");
      for (const double value : bars) add_cell(scale.height(value), row, width);
      text_ += "\n";
    }
    add_axis(margin, width * bars.size(), axis);
  }
  // The bar of several bins, for a profile their mean value.
  double bar(std::size_t begin, std::size_t end) const {
    double sum = 0, weights = 0;
    for (std::size_t bin = begin + 1; bin <= end; ++bin) {
      sum += histogram_.is_profile() ? histogram_.value_sums()[bin] : histogram_.contents()[bin];
      weights += histogram_.contents()[bin];
    }
    return histogram_.is_profile() && weights != 0 ? sum / weights : sum;
  }
  void add_cell(double height, std::size_t row, std::size_t width) {
    const double eighths = height * kRows * 8 - static_cast<double>(row) * 8;
    auto part = static_cast<std::size_t>(std::clamp(std::round(eighths), 0., 8.));
    if (part == 0 && row == 0 && height > 0) part = 1;
    for (std::size_t i = 0; i < width; ++i) text_ += kEighths[part];
  }
  void add_axis(std::size_t margin, std::size_t width, const HistogramAxis& axis) {
    text_ += std::string(margin, ' ') + " └";
    for (std::size_t i = 0; i < width; ++i) text_ += "─";
    const std::string low = short_number(axis.low), high = short_number(axis.high);
    text_ +=
        "\n" + std::string(margin + 2, ' ') + low + right_aligned(high, width > low.size() ? width - low.size() : 0);
    text_ += "\n";
  }

  // ---- of two

  void add_map() {
    const HistogramAxis &x = histogram_.axes()[0], &y = histogram_.axes()[1];
    const auto bins_x = static_cast<std::size_t>(x.bins), bins_y = static_cast<std::size_t>(y.bins);
    const std::size_t margin = std::max({kMarginMin, short_number(y.low).size() + 1, short_number(y.high).size() + 1});
    const std::size_t step_x = bins_together(bins_x, columns_ - margin - 4), step_y = bins_together(bins_y, kRowsOfMap);
    const std::size_t cells_x = (bins_x + step_x - 1) / step_x, cells_y = (bins_y + step_y - 1) / step_y;
    std::vector<double> cells(cells_x * cells_y);
    for (std::size_t i = 0; i < bins_x; ++i) {
      for (std::size_t k = 0; k < bins_y; ++k) {
        const std::size_t bin = histogram_.bin_at(std::array{i + 1, k + 1});
        cells[i / step_x + cells_x * (k / step_y)] +=
            histogram_.is_profile() ? histogram_.profile_value(bin) : histogram_.contents()[bin];
      }
    }
    const Scale scale(cells, is_log_);
    const std::size_t width = std::max<std::size_t>(1, (columns_ - margin - 4) / cells_x);
    for (std::size_t row = cells_y; row-- > 0;) {
      const std::string label = row + 1 == cells_y ? short_number(y.high) : row == 0 ? short_number(y.low) : "";
      text_ += right_aligned(label, margin) + (label.empty() ? " │" : " ┤");
      for (std::size_t column = 0; column < cells_x; ++column)
        add_shade(scale.height(cells[column + cells_x * row]), width);
      text_ += "\n";
    }
    add_axis(margin, width * cells_x, x);
  }
  void add_shade(double height, std::size_t width) {
    const auto shade = height > 0 ? static_cast<std::size_t>(std::clamp(std::ceil(height * 4), 1., 4.)) : 0;
    for (std::size_t i = 0; i < width; ++i) text_ += kShades[shade];
  }

  // ---- below

  void add_statistics() {
    text_ += "entries " + short_number(histogram_.entries());
    if (histogram_.is_weighted()) text_ += ", sum of weights " + short_number(histogram_.sum_of_weights());
    text_ += "\n";
    for (std::size_t axis = 0; axis < histogram_.dimensions(); ++axis) {
      text_ += printable(drawing_.titles[axis]) + ": mean " + short_number(histogram_.mean(axis)) + ", deviation " +
               short_number(histogram_.deviation(axis));
      const double below = histogram_.beyond(axis, false), above = histogram_.beyond(axis, true);
      if (below != 0) text_ += ", below " + short_number(below);
      if (above != 0) text_ += ", above " + short_number(above);
      text_ += "\n";
    }
  }

  const Drawing& drawing_;
  const DrawnHistogram& histogram_;
  const std::size_t columns_;
  const bool is_log_;
  std::string text_;
};

}  // namespace

std::string terminal_plot(const Drawing& drawing, std::size_t columns, bool is_log) {
  return TerminalPlot(drawing, columns, is_log).run();
}

}  // namespace tfilefs
