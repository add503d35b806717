// SPDX-License-Identifier: Apache-2.0
#include "summary/summary_files.h"

#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <variant>

#include "query/pictures.h"
#include "tfile/json_writer.h"

namespace tfilefs {
namespace {

using tfile::JsonWriter;

std::string shortest(double value) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.begin(), digits.end(), value + 0.0).ptr};
}

void write_number(JsonWriter& json, std::string_view name, double value) {
  json.key(name);
  if (std::isfinite(value))
    json.raw(shortest(value));
  else
    json.null();
}

void write_number(JsonWriter& json, std::string_view name, const std::optional<ColumnSummary::Number>& number) {
  if (!number) return void(json.key(name).null());
  const auto write = [&](auto value) {
    if constexpr (std::is_integral_v<decltype(value)>)
      json.member(name, value);
    else
      write_number(json, name, static_cast<double>(value));
  };
  std::visit(write, *number);
}

void write_histogram(JsonWriter& json, const DrawnHistogram& histogram) {
  const HistogramAxis& axis = histogram.axes()[0];
  json.begin_object();
  write_number(json, "low", axis.low);
  write_number(json, "high", axis.high);
  json.key("counts").begin_array();
  for (std::int32_t bin = 1; bin <= axis.bins; ++bin)
    json.number(static_cast<std::uint64_t>(histogram.contents()[static_cast<std::size_t>(bin)]));
  json.end_array().end_object();
}

}  // namespace

std::string summary_json(const ColumnSummary& summary, const tfile::Column& column) {
  JsonWriter json;
  const bool has_any = summary.least.has_value();
  json.begin_object().line(2).member("path", column.path).line(2).member("dtype", tfile::numpy_dtype(column.dtype));
  json.line(2).member("values", summary.values).line(2).member("nan", summary.nans);
  json.line(2).member("infinities", summary.infinities);
  json.line(2).member("negative_infinities", summary.negative_infinities);
  write_number(json.line(2), "min", summary.least);
  write_number(json.line(2), "max", summary.most);
  write_number(json.line(2), "mean", has_any ? summary.mean : std::nan(""));
  write_number(json.line(2), "deviation", has_any ? summary.deviation : std::nan(""));
  json.line(2).key("quantiles").begin_object();
  for (std::size_t i = 0; i < summary.quantiles.size(); ++i)
    write_number(json, shortest(ColumnSummary::kQuantiles[i]), summary.quantiles[i]);
  json.end_object().line(2).key("histogram");
  if (has_any)
    write_histogram(json, summary.histogram);
  else
    json.null();
  return json.line().end_object().take() + "\n";
}

std::string summary_picture(const ColumnSummary& summary, const tfile::Column& column) {
  const Drawing drawing{summary.histogram, {column.name}, column.path};
  const auto plot = drawn_plot(drawing, false);
  return plot ? plot_svg(*plot) : std::string();  // of one axis it cannot fail
}

}  // namespace tfilefs
