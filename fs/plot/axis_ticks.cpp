// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "plot/plot_scale.h"

namespace tfilefs {
namespace {

// "2.5", or "3#times10^{6}" where a plain number would be long.
std::string label_of(double value, double step) {
  std::array<char, 64> text;
  const double size = std::max(std::abs(value), step);
  if (value == 0) return "0";
  if (size < 1e6 && step >= 1e-4) {
    const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 8);
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    return text.data();
  }
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
  const double mantissa = value / std::pow(10, exponent);
  const double fine = step / std::pow(10, exponent);
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(fine) - 1e-9)), 0, 6);
  std::array<char, 32> number;
  std::snprintf(number.data(), number.size(), "%.*f", decimals, mantissa);
  return std::string(number.data()) + "#times10^{" + std::to_string(exponent) + "}";
}

std::string date_label(double seconds, double step) {
  using namespace std::chrono;
  constexpr double kSecondsMax = 2e11;  // the year 8307; years beyond 32767 cannot be represented here
  if (std::abs(seconds) > kSecondsMax) return {};
  const sys_seconds time{std::chrono::seconds(std::llround(seconds))};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  std::array<char, 64> text;
  if (step < 86400) {
    std::snprintf(text.data(), text.size(), step < 60 ? "%02d:%02d:%02d" : "%02d:%02d",
                  static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                  static_cast<int>(clock.seconds().count()));
  } else {
    std::snprintf(text.data(), text.size(), step < 300 * 86400.0 ? "%d-%02u-%02u" : "%d", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  }
  return text.data();
}

}  // namespace

std::vector<Tick> ticks(double low, double high, int wanted) {
  std::vector<Tick> marks;
  const double rough = (high - low) / wanted;
  if (!(rough > 0) || !std::isfinite(rough)) return marks;
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * decade;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * decade >= rough) {
      step = factor * decade;
      break;
    }
  }
  // If numbers are so close that their step is lost in rounding, there are no ticks between them.
  const double first = std::ceil(low / step - 1e-9);
  if (!(step > 0) || std::abs(first) > 1e14) return marks;
  for (int i = 0; i <= 2 * wanted; ++i) {
    const double value = (first + i) * step;
    if (value > high + step * 1e-9) break;
    marks.push_back({value, label_of(value, step), false});
  }
  return marks;
}

std::vector<Tick> log_ticks(double low, double high) {
  std::vector<Tick> marks;
  const double first = std::floor(std::log10(low)), last = std::ceil(std::log10(high)), decades = last - first;
  if (!(decades > 0) || !std::isfinite(decades)) return marks;
  // About eight labels. The multiples 2 and 5 are labelled if powers of ten alone would be too few.
  constexpr double kLabels = 8, kFew = 3;
  const double step = std::max(std::ceil(decades / kLabels), 1.0);
  const bool is_few = std::log10(high) - std::log10(low) < kFew - 1;
  for (double decade = first; decade <= last; ++decade) {
    const double power = std::pow(10, decade);
    for (int times = 1; times < 10; ++times) {
      const double value = times * power;
      if (!(value >= low * (1 - 1e-9)) || value > high * (1 + 1e-9)) continue;
      const bool has_label = times == 1 ? std::fmod(decade - first, step) == 0 : is_few && (times == 2 || times == 5);
      const bool is_plain = decade >= -2 && decade <= 3;
      std::string label;
      if (has_label && is_plain) label = label_of(value, power);
      if (has_label && !is_plain)
        label = (times == 1 ? "" : std::to_string(times) + "#times") + "10^{" +
                std::to_string(static_cast<int>(decade)) + "}";
      if (times == 1 || decades <= kLabels) marks.push_back({value, std::move(label), times != 1});
    }
  }
  return marks;
}

std::vector<Tick> time_ticks(double low, double high, double offset, int wanted) {
  constexpr double kMinute = 60, kHour = 3600, kDay = 86400, kYear = 365.25 * kDay;
  constexpr double kSteps[] = {
      1,         5,         10,        30,         kMinute,   5 * kMinute, 10 * kMinute, 30 * kMinute,
      kHour,     3 * kHour, 6 * kHour, 12 * kHour, kDay,      2 * kDay,    7 * kDay,     14 * kDay,
      30 * kDay, 91 * kDay, kYear,     2 * kYear,  5 * kYear, 10 * kYear};
  const double rough = (high - low) / wanted;
  const auto step = std::find_if(std::begin(kSteps), std::end(kSteps), [&](double s) { return s >= rough; });
  if (step == std::end(kSteps)) return ticks(low, high, wanted);
  std::vector<Tick> marks;
  const double first = std::ceil((low + offset) / *step);
  for (int i = 0; i <= 2 * wanted; ++i) {
    const double time = (first + i) * *step;
    if (!(time - offset <= high)) break;
    marks.push_back({time - offset, date_label(time, *step), false});
  }
  return marks;
}

}  // namespace tfilefs
