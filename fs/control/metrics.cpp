// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>

#include "control/stats.h"
#include "printable.h"
#include "tfile/json_text.h"

namespace tfilefs {
namespace {

using tfile::utf8_length;

// A label's value: bytes that are not UTF-8, and characters that are unsafe on a terminal, become \xNN.
std::string label_value(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    const std::size_t control = length == 0 ? 1 : control_length(text);
    for (std::size_t i = 0; i < control; ++i) {
      std::array<char, 8> escaped;
      std::snprintf(escaped.data(), escaped.size(), "\\\\x%02x", static_cast<unsigned char>(text[i]));
      out += escaped.data();
    }
    if (control) {
      text.remove_prefix(control);
      continue;
    }
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[0];
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

void append_head(std::string& to, const std::string& name, std::string_view type, std::string_view help) {
  to += "# HELP " + name + " ";
  to += help;
  to += "\n# TYPE " + name + " ";
  to += type;
  to += '\n';
}

void append_gauge(std::string& to, const std::string& name, std::string_view help, std::uint64_t value) {
  append_head(to, name, "gauge", help);
  to += name + " " + std::to_string(value) + "\n";
}

std::string shown(const Figure& figure, std::uint64_t count) {
  if (!figure.is_time) return std::to_string(count);
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%.9f", static_cast<double>(count) * 1e-9);
  return text.data();
}

struct Series {
  std::string label;
  ReadCounts counts;
};

std::vector<Series> series_of(const CountRegistry::Report& reading) {
  std::vector<Series> series;
  ReadCounts others = reading.forgotten;
  for (const TableReport& table : reading.tables) {
    if (table.is_distinct)
      series.push_back({label_value(table.label.path), table.counts});
    else
      others += table.counts;
  }
  // Paths begin with a slash, so these names are no paths.
  series.push_back({"objects", reading.objects});
  series.push_back({"others", others});
  return series;
}

void append_figure(std::string& to, const Figure& figure, const std::vector<Series>& series) {
  const std::string name = "tfilefs_" + std::string(figure.metric) + "_total";
  append_head(to, name, "counter", figure.help);
  for (const Series& one : series)
    to += name + "{table=\"" + one.label + "\"} " + shown(figure, one.counts[figure.count]) + "\n";
}

template <class ValueOf>
void append_gauge(std::string& to, const std::string& name, std::string_view help,
                  const std::vector<MountReport::Source>& sources, ValueOf value_of) {
  append_head(to, name, "gauge", help);
  for (const auto& source : sources)
    to += name + "{source=\"" + label_value(source.name) + "\"} " + value_of(source) + "\n";
}

void append_sources(std::string& to, const std::vector<MountReport::Source>& sources) {
  struct Counter {
    std::string name;
    std::string_view help;
    std::uint64_t tfile::SourceCounts::*count;
  };
  static const Counter kCounters[] = {
      {"tfilefs_source_requests_total", "Requests to servers.", &tfile::SourceCounts::requests},
      {"tfilefs_source_ranges_total", "Ranges that these asked for.", &tfile::SourceCounts::ranges},
      {"tfilefs_source_bytes_total", "Bytes that servers sent.", &tfile::SourceCounts::bytes},
      {"tfilefs_source_retries_total", "Requests that were sent again.", &tfile::SourceCounts::retries},
      {"tfilefs_source_round_trips_total", "Round trips: requests that were sent together are one.",
       &tfile::SourceCounts::round_trips},
      {"tfilefs_source_redirects_total", "Redirects that were followed.", &tfile::SourceCounts::redirects},
      {"tfilefs_source_disk_hits_total", "Ranges that the cache on disk had.", &tfile::SourceCounts::disk_hits},
      {"tfilefs_source_disk_bytes_total", "Bytes that came from the cache on disk.", &tfile::SourceCounts::disk_bytes},
      {"tfilefs_source_disk_failures_total", "Files for which the cache on disk failed.",
       &tfile::SourceCounts::disk_failures}};
  if (sources.empty()) return;
  for (const Counter& counter : kCounters) {
    append_head(to, counter.name, "counter", counter.help);
    for (const auto& source : sources)
      to += counter.name + "{source=\"" + label_value(source.name) + "\"} " +
            std::to_string(source.counts.*counter.count) + "\n";
  }
  append_gauge(to, "tfilefs_source_bytes_in_flight", "Bytes that are asked for and have not come.", sources,
               [](const auto& source) { return std::to_string(source.counts.in_flight); });
  append_gauge(to, "tfilefs_source_bytes_per_second", "What the line to the server brings.", sources,
               [](const auto& source) { return std::to_string(source.traits.bytes_per_second); });
  append_gauge(to, "tfilefs_source_delay_seconds", "From a request to the first byte of its answer.", sources,
               [](const auto& source) {
                 std::array<char, 40> text;
                 std::snprintf(text.data(), text.size(), "%.6f",
                               static_cast<double>(source.traits.delay.count()) * 1e-6);
                 return std::string(text.data());
               });
}

}  // namespace

std::string metrics_text(const CacheReport& cache, const MountReport& mount) {
  std::string text;
  append_head(text, "tfilefs_info", "gauge", "The program's version.");
  text += "tfilefs_info{version=\"" TFILEFS_VERSION "\"} 1\n";
  append_gauge(text, "tfilefs_uptime_seconds", "Time since the mount began.",
               static_cast<std::uint64_t>(mount.uptime_seconds));
  append_gauge(text, "tfilefs_budget_bytes", "The byte budget.", cache.budget);
  append_gauge(text, "tfilefs_budget_used_bytes", "Of the budget, in use.", cache.budget_used);
  append_gauge(text, "tfilefs_budget_peak_bytes", "Of the budget, in use at most so far.", cache.budget_peak);
  append_gauge(text, "tfilefs_inodes", "Paths that the kernel knows.", mount.inodes);
  append_gauge(text, "tfilefs_handles", "Open files and directories.", mount.handles);
  append_head(text, "tfilefs_errors_total", "counter", "Problems met.");
  text += "tfilefs_errors_total " + std::to_string(mount.errors) + "\n";
  append_head(text, "tfilefs_metadata_bytes", "gauge", "Memory of metadata, outside of the budget.");
  for (const MountReport::Memory& memory : mount.metadata)
    text += "tfilefs_metadata_bytes{kind=\"" + std::string(memory.kind) + "\"} " + std::to_string(memory.bytes) + "\n";
  append_sources(text, mount.sources);
  const std::vector<Series> series = series_of(cache.reading);
  for (const Figure& figure : figures()) append_figure(text, figure, series);
  return text;
}

}  // namespace tfilefs
