// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cluster_cache.h"
#include "cache/read_counts.h"
#include "control/process_report.h"
#include "request_times.h"
#include "tfile/json_writer.h"
#include "tfile/source.h"

namespace tfilefs {

// How the table of mounts names a mount.
struct MountNames {
  std::string mount_point, source;
};

// The state of the mount itself, besides the cache.
struct MountReport {
  std::size_t inodes = 0;    // paths that the kernel knows
  std::size_t handles = 0;   // open files and directories
  std::uint64_t errors = 0;  // problems since the start
  double uptime_seconds = 0;
  struct Memory {
    std::string_view kind;
    std::uint64_t bytes = 0;
  };
  std::vector<Memory> metadata;  // held outside of the budget
  struct Source {
    std::string name;
    tfile::SourceCounts counts;
    tfile::SourceTraits traits;
  };
  std::vector<Source> sources;  // remote ones
  RequestTimes::Report requests;
};

// .tfilefs/stats.json (docs/semantics/running.md, "Statistics"). Needs a report with streams.
std::string stats_text(const CacheReport&, const MountReport&);

// Its members of one set of counts, within an object.
void write_counts(tfile::JsonWriter&, const ReadCounts&);

// .tfilefs/metrics: the same in the text format of Prometheus, with one series per table and count, and what the system
// tells of the process. Tables beyond CountRegistry::kTablesMax are added up. The streams of the report are not used.
std::string metrics_text(const MountNames&, const CacheReport&, const MountReport&,
                         const std::optional<ProcessReport>&);

// The text as a file whose size stays while its numbers get more digits, so that what stat(2) tells still holds for
// read(2): up to the next 4 KiB blanks follow, with a newline at the end.
std::string of_steady_size(std::string text);

// A count as people see it: its names in stats.json and in metrics, and its description.
struct Figure {
  Count count;
  std::string_view name;    // in stats.json
  std::string_view metric;  // in metrics, between "tfilefs_" and "_total"
  std::string_view help;
  bool is_time = false;  // counted in nanoseconds, shown in seconds
};

// All of them, in the order in which they are shown.
std::span<const Figure> figures();

}  // namespace tfilefs
