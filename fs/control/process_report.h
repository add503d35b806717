// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace tfilefs {

// The system's figures of a process, as Prometheus' own libraries report them.
struct ProcessReport {
  double cpu_seconds = 0;    // user and system
  double start_seconds = 0;  // since the epoch
  std::uint64_t resident_bytes = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t threads = 0;
  std::uint64_t open_files = 0;
  std::uint64_t open_files_max = 0;
};

// The figures of this process; nothing if there is no /proc.
std::optional<ProcessReport> own_process();

}  // namespace tfilefs
