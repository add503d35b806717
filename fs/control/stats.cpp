// SPDX-License-Identifier: Apache-2.0
#include "control/stats.h"

#include <unistd.h>

#include "tfile/table.h"

namespace tfilefs {
namespace {

using tfile::JsonWriter;

constexpr double kNanosecond = 1e-9;

void write_branch(JsonWriter& json, std::span<const tfile::Column* const> columns, const ReadCounts& counts) {
  json.begin_object().member("branch", columns.empty() ? "" : columns[0]->branch);
  json.key("columns").begin_array();
  for (const tfile::Column* column : columns) json.text(column->path);
  json.end_array();
  write_counts(json, counts);
  json.end_object();
}

void write_branches(JsonWriter& json, const TableReport& report) {
  const auto* const table = dynamic_cast<const tfile::Table*>(report.set.get());
  if (!table || report.streams.empty()) return;
  std::vector<std::vector<const tfile::Column*>> columns(report.streams.back().first + 1);
  for (const tfile::Column& column : table->columns)
    if (column.stream < columns.size()) columns[column.stream].push_back(&column);
  for (const auto& [stream, counts] : report.streams) {
    std::vector<tfile::Column> resolved;
    if (columns[stream].empty()) resolved = table->resolved_columns(stream);
    for (const tfile::Column& column : resolved) columns[stream].push_back(&column);
    json.line(4);
    write_branch(json, columns[stream], counts);
  }
}

void write_table(JsonWriter& json, const TableReport& report) {
  json.begin_object().member("table", report.label.path).member("generation", report.label.generation);
  json.key("loaded").flag(report.set != nullptr);
  write_counts(json, report.counts);
  json.key("branches").begin_array();
  write_branches(json, report);
  json.end_array().end_object();
}

void write_object(JsonWriter& json, std::string_view name, const ReadCounts& counts) {
  json.key(name).begin_object();
  write_counts(json, counts);
  json.end_object();
}

void write_metadata(JsonWriter& json, const MountReport& mount) {
  json.key("metadata").begin_object();
  std::uint64_t total = 0;
  for (const MountReport::Memory& memory : mount.metadata) {
    json.member(memory.kind, memory.bytes);
    total += memory.bytes;
  }
  json.member("total", total).end_object();
}

void write_sources(JsonWriter& json, const MountReport& mount) {
  json.key("sources").begin_array();
  for (const MountReport::Source& source : mount.sources) {
    const auto& [name, counts, traits] = source;
    json.begin_object().member("name", name).member("requests", counts.requests).member("ranges", counts.ranges);
    json.member("bytes", counts.bytes).member("retries", counts.retries);
    json.member("round_trips", counts.round_trips).member("redirects", counts.redirects);
    json.member("bytes_in_flight", counts.in_flight);
    json.member("disk_hits", counts.disk_hits).member("disk_bytes", counts.disk_bytes);
    json.member("disk_failures", counts.disk_failures);
    json.member("delay_us", static_cast<std::uint64_t>(traits.delay.count()));
    json.member("bytes_per_second", traits.bytes_per_second).end_object();
  }
  json.end_array();
}

}  // namespace

void write_counts(JsonWriter& json, const ReadCounts& counts) {
  for (const Figure& figure : figures()) {
    const std::uint64_t count = counts[figure.count];
    if (figure.is_time)
      json.key(figure.name).seconds(static_cast<double>(count) * kNanosecond);
    else
      json.member(figure.name, count);
  }
  const std::uint64_t calls = counts[Count::read_calls];
  json.member("read_size_mean", calls == 0 ? 0 : counts[Count::bytes_read] / calls);
  json.member("extra_bytes", counts.extra_bytes());
}

std::string of_steady_size(std::string text) {
  constexpr std::size_t kStep = 4096;
  text.resize((text.size() / kStep + 1) * kStep, ' ');
  text.back() = '\n';
  return text;
}

std::string stats_text(const CacheReport& cache, const MountReport& mount) {
  JsonWriter json;
  json.begin_object().member("tfilefs", 1).member("version", TFILEFS_VERSION).member("pid", ::getpid());
  json.key("uptime_seconds").seconds(mount.uptime_seconds);
  json.line().key("cache").begin_object();
  write_counts(json, cache.reading.total());
  json.member("budget", cache.budget).member("budget_used", cache.budget_used);
  json.member("budget_peak", cache.budget_peak).end_object();
  json.line().key("mount").begin_object();
  json.member("inodes", mount.inodes).member("handles", mount.handles).member("errors", mount.errors).end_object();
  json.line();
  write_metadata(json, mount);
  json.line();
  write_sources(json, mount);
  json.line().key("tables").begin_array();
  for (const TableReport& table : cache.reading.tables) {
    json.line(2);
    write_table(json, table);
  }
  json.end_array().line();
  write_object(json, "objects", cache.reading.objects);
  json.line().member("tables_forgotten", cache.reading.tables_forgotten);
  write_object(json, "forgotten", cache.reading.forgotten);
  return of_steady_size(json.end_object().take());
}

}  // namespace tfilefs
