// SPDX-License-Identifier: Apache-2.0
#include "control/stats.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <concepts>

#include "control/figures.h"
#include "json/json_text.h"
#include "tfile/table.h"

namespace tfilefs {
namespace {

constexpr double kNanosecond = 1e-9;

template <std::integral T>
void append_number(std::string& to, T value) {
  std::array<char, 24> digits;
  to.append(digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr);
}

void append_number(std::string& to, double value) {
  std::array<char, 64> digits;
  to.append(digits.data(), std::to_chars(digits.begin(), digits.end(), value, std::chars_format::fixed, 6).ptr);
}

template <class T>
void append_member(std::string& to, std::string_view name, T value) {
  append_json_string(to, name);
  to += ": ";
  append_number(to, value);
  to += ", ";
}

void append_text(std::string& to, std::string_view name, std::string_view text) {
  append_json_string(to, name);
  to += ": ";
  append_json_string(to, text);
  to += ", ";
}

// Takes back the ", " behind the last member.
void close(std::string& to, std::string_view with) {
  if (to.ends_with(", ")) to.resize(to.size() - 2);
  to += with;
}

void append_counts(std::string& to, const ReadCounts& counts) {
  for (const Figure& figure : figures()) {
    const std::uint64_t count = counts[figure.count];
    if (figure.is_time)
      append_member(to, figure.name, static_cast<double>(count) * kNanosecond);
    else
      append_member(to, figure.name, count);
  }
  const std::uint64_t calls = counts[Count::read_calls];
  append_member(to, "read_size_mean", calls == 0 ? 0 : counts[Count::bytes_read] / calls);
  append_member(to, "extra_bytes", counts.extra_bytes());
}

void append_branch(std::string& to, std::span<const tfile::Column* const> columns, const ReadCounts& counts) {
  to += "    {";
  append_text(to, "branch", columns.empty() ? "" : columns[0]->branch);
  to += "\"columns\": [";
  for (const tfile::Column* column : columns) {
    append_json_string(to, column->path);
    to += ", ";
  }
  close(to, "], ");
  append_counts(to, counts);
  close(to, "},\n");
}

void append_branches(std::string& to, const TableReport& report) {
  const auto* const table = dynamic_cast<const tfile::Table*>(report.set.get());
  if (!table || report.streams.empty()) return;
  std::vector<std::vector<const tfile::Column*>> columns(report.streams.back().first + 1);
  for (const tfile::Column& column : table->columns)
    if (column.stream < columns.size()) columns[column.stream].push_back(&column);
  to += '\n';
  for (const auto& [stream, counts] : report.streams) {
    std::vector<tfile::Column> tried;
    if (columns[stream].empty()) tried = table->columns_tried(stream);
    for (const tfile::Column& column : tried) columns[stream].push_back(&column);
    append_branch(to, columns[stream], counts);
  }
  to.resize(to.size() - 2);  // ",\n"
}

void append_table(std::string& to, const TableReport& report) {
  to += "  {";
  append_text(to, "table", report.label.path);
  append_member(to, "generation", report.label.generation);
  to += report.set ? "\"loaded\": true, " : "\"loaded\": false, ";
  append_counts(to, report.counts);
  to += "\"branches\": [";
  append_branches(to, report);
  to += "]},\n";
}

void append_object(std::string& to, std::string_view name, const ReadCounts& counts) {
  append_json_string(to, name);
  to += ": {";
  append_counts(to, counts);
  close(to, "},\n");
}

void append_metadata(std::string& to, const MountReport& mount) {
  to += "\"metadata\": {";
  std::uint64_t total = 0;
  for (const MountReport::Memory& memory : mount.metadata) {
    append_member(to, memory.kind, memory.bytes);
    total += memory.bytes;
  }
  append_member(to, "total", total);
  close(to, "},\n");
}

}  // namespace

std::string stats_text(const CacheReport& cache, const MountReport& mount) {
  std::string text = "{\"tfilefs\": 1, ";
  append_text(text, "version", TFILEFS_VERSION);
  append_member(text, "pid", ::getpid());
  append_member(text, "uptime_seconds", mount.uptime_seconds);
  close(text, ",\n\"cache\": {");
  append_counts(text, cache.reading.total());
  append_member(text, "budget", cache.budget);
  append_member(text, "budget_used", cache.budget_used);
  append_member(text, "budget_peak", cache.budget_peak);
  close(text, "},\n\"mount\": {");
  append_member(text, "inodes", mount.inodes);
  append_member(text, "handles", mount.handles);
  append_member(text, "errors", mount.errors);
  close(text, "},\n");
  append_metadata(text, mount);
  text += "\"tables\": [\n";
  for (const TableReport& table : cache.reading.tables) append_table(text, table);
  if (text.ends_with(",\n")) text.resize(text.size() - 2);
  text += "],\n";
  append_object(text, "objects", cache.reading.objects);
  append_member(text, "tables_forgotten", cache.reading.tables_forgotten);
  append_object(text, "forgotten", cache.reading.forgotten);
  text.resize(text.size() - 2);
  text += "}\n";
  return text;
}

}  // namespace tfilefs
