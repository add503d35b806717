// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <utility>

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

std::string decimal(double value, int digits) {
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string seconds_of(std::uint64_t nanoseconds) { return decimal(static_cast<double>(nanoseconds) * 1e-9, 9); }

// The text as it is made. Each sample has the labels of the mount: Prometheus, or what collects pages of several mounts
// for it, tells series apart by labels alone.
class MetricsPage {
 public:
  explicit MetricsPage(const MountNames& names)
      : labels_("mount=\"" + label_value(names.mount_point) + "\",source=\"" + label_value(names.source) + "\"") {}

  // Begins the samples that follow. Pages of all programs must have the same help for a name.
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += "# HELP " + name_ + " ";
    text_ += help;
    text_ += "\n# TYPE " + name_ + " ";
    text_ += type;
    text_ += '\n';
  }
  // `label`, if it is not empty, has the value `of`, which is escaped already.
  void sample(const std::string& value, std::string_view label = "", std::string_view of = "") {
    sample_of("", value, label.empty() ? "" : "," + std::string(label) + "=\"" + std::string(of) + "\"");
  }
  // `suffix`: of the name. `labels`: behind those of the mount, with a comma in front.
  void sample_of(std::string_view suffix, const std::string& value, std::string_view labels) {
    text_ += name_;
    text_ += suffix;
    text_ += "{" + labels_;
    text_ += labels;
    text_ += "} " + value + "\n";
  }
  void gauge(std::string_view name, std::string_view help, const std::string& value) {
    begin(name, "gauge", help);
    sample(value);
  }
  void gauge(std::string_view name, std::string_view help, std::uint64_t value) {
    gauge(name, help, std::to_string(value));
  }

  std::string take() { return std::move(text_); }

 private:
  const std::string labels_;
  std::string text_, name_;
};

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

void add_figure(MetricsPage& page, const Figure& figure, const std::vector<Series>& series) {
  page.begin("tfilefs_" + std::string(figure.metric) + "_total", "counter", figure.help);
  for (const Series& one : series) {
    const std::uint64_t count = one.counts[figure.count];
    page.sample(figure.is_time ? seconds_of(count) : std::to_string(count), "table", one.label);
  }
}

template <class ValueOf>
void add_of_sources(MetricsPage& page, std::string_view name, std::string_view type, std::string_view help,
                    const std::vector<MountReport::Source>& sources, ValueOf value_of) {
  page.begin(name, type, help);
  for (const MountReport::Source& source : sources) page.sample(value_of(source), "url", label_value(source.name));
}

void add_sources(MetricsPage& page, const std::vector<MountReport::Source>& sources) {
  struct Counter {
    std::string_view name, help;
    std::uint64_t tfile::SourceCounts::*count;
  };
  static constexpr Counter kCounters[] = {
      {"tfilefs_source_requests_total", "Requests to servers.", &tfile::SourceCounts::requests},
      {"tfilefs_source_ranges_total", "Byte ranges in these requests.", &tfile::SourceCounts::ranges},
      {"tfilefs_source_bytes_total", "Bytes that servers sent.", &tfile::SourceCounts::bytes},
      {"tfilefs_source_retries_total", "Requests that were retried.", &tfile::SourceCounts::retries},
      {"tfilefs_source_round_trips_total", "Round trips; requests sent together count as one.",
       &tfile::SourceCounts::round_trips},
      {"tfilefs_source_redirects_total", "Redirects followed.", &tfile::SourceCounts::redirects},
      {"tfilefs_source_disk_hits_total", "Byte ranges served from the disk cache.", &tfile::SourceCounts::disk_hits},
      {"tfilefs_source_disk_bytes_total", "Bytes served from the disk cache.", &tfile::SourceCounts::disk_bytes},
      {"tfilefs_source_disk_failures_total", "Files for which the disk cache failed.",
       &tfile::SourceCounts::disk_failures}};
  if (sources.empty()) return;
  using Source = MountReport::Source;
  for (const Counter& counter : kCounters)
    add_of_sources(page, counter.name, "counter", counter.help, sources,
                   [&](const Source& source) { return std::to_string(source.counts.*counter.count); });
  add_of_sources(page, "tfilefs_source_bytes_in_flight", "gauge", "Bytes requested and not yet received.", sources,
                 [](const Source& source) { return std::to_string(source.counts.in_flight); });
  add_of_sources(page, "tfilefs_source_bytes_per_second", "gauge", "Throughput of the connection to the server.",
                 sources, [](const Source& source) { return std::to_string(source.traits.bytes_per_second); });
  add_of_sources(
      page, "tfilefs_source_delay_seconds", "gauge", "Time from a request to the first byte of its response.", sources,
      [](const Source& source) { return decimal(static_cast<double>(source.traits.delay.count()) * 1e-6, 6); });
}

std::string shown_bound(std::chrono::nanoseconds bound) {
  std::string text = decimal(static_cast<double>(bound.count()) * 1e-9, 5);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// Kinds that nothing has asked for have no series.
void add_requests(MetricsPage& page, const RequestTimes::Report& requests) {
  page.begin("tfilefs_operation_seconds", "histogram", "Time from the arrival of a kernel request to its reply.");
  for (std::size_t kind = 0; kind < requests.size(); ++kind) {
    const RequestTimes::Histogram& times = requests[kind];
    if (times.count() == 0) continue;
    const std::string label = ",operation=\"" + std::string(kRequestKinds[kind]) + "\"";
    std::uint64_t so_far = 0;
    for (std::size_t i = 0; i < times.counts.size(); ++i) {
      so_far += times.counts[i];
      const bool is_last = i == RequestTimes::kBounds.size();
      const std::string bound = is_last ? "+Inf" : shown_bound(RequestTimes::kBounds[i]);
      page.sample_of("_bucket", std::to_string(so_far), label + ",le=\"" + bound + "\"");
    }
    page.sample_of("_sum", seconds_of(times.sum_ns), label);
    page.sample_of("_count", std::to_string(so_far), label);
  }
}

// Names and help are those of Prometheus' own libraries: collectors that have these metrics of themselves refuse
// others.
void add_process(MetricsPage& page, const ProcessReport& process) {
  page.begin("process_cpu_seconds_total", "counter", "Total user and system CPU time spent in seconds.");
  page.sample(decimal(process.cpu_seconds, 2));
  page.gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
             decimal(process.start_seconds, 2));
  page.gauge("process_resident_memory_bytes", "Resident memory size in bytes.", process.resident_bytes);
  page.gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", process.virtual_bytes);
  page.gauge("process_open_fds", "Number of open file descriptors.", process.open_files);
  page.gauge("process_max_fds", "Maximum number of open file descriptors.", process.open_files_max);
  page.gauge("process_threads", "Number of OS threads in the process.", process.threads);
}

void add_mount(MetricsPage& page, const CacheReport& cache, const MountReport& mount) {
  page.begin("tfilefs_info", "gauge", "The program's version.");
  page.sample("1", "version", TFILEFS_VERSION);
  page.gauge("tfilefs_uptime_seconds", "Time since the mount began.", static_cast<std::uint64_t>(mount.uptime_seconds));
  page.gauge("tfilefs_budget_bytes", "The byte budget.", cache.budget);
  page.gauge("tfilefs_budget_used_bytes", "Used part of the byte budget.", cache.budget_used);
  page.gauge("tfilefs_budget_peak_bytes", "Peak of the used budget.", cache.budget_peak);
  page.gauge("tfilefs_inodes", "Paths known to the kernel.", mount.inodes);
  page.gauge("tfilefs_handles", "Open files and directories.", mount.handles);
  page.begin("tfilefs_errors_total", "counter", "Errors in .tfilefs/errors.");
  page.sample(std::to_string(mount.errors));
  page.begin("tfilefs_metadata_bytes", "gauge", "Memory used by metadata, not part of the budget.");
  for (const MountReport::Memory& memory : mount.metadata)
    page.sample(std::to_string(memory.bytes), "kind", memory.kind);
}

}  // namespace

std::string metrics_text(const MountNames& names, const CacheReport& cache, const MountReport& mount,
                         const std::optional<ProcessReport>& process) {
  MetricsPage page(names);
  add_mount(page, cache, mount);
  add_sources(page, mount.sources);
  const std::vector<Series> series = series_of(cache.reading);
  for (const Figure& figure : figures()) add_figure(page, figure, series);
  add_requests(page, mount.requests);
  if (process) add_process(page, *process);
  return of_steady_size(page.take() + "#");  // behind it is a comment
}

}  // namespace tfilefs
