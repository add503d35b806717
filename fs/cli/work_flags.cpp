// SPDX-License-Identifier: Apache-2.0
#include "cli/work_flags.h"

#include <algorithm>

#include "cli/options.h"
#include "cli/resource_limits.h"

namespace tfilefs {

tl::unexpected<Error> wrong_value(const std::string& flag, const std::string& value, const std::string& wanted) {
  return tfile::fail(ErrorKind::invalid, flag + " " + value + ": expected " + wanted);
}

Result<unsigned> parse_threads(const std::string& given) {
  if (given.empty()) return usable_cores();
  constexpr std::uint64_t kThreadsMax = 1024;
  const auto threads = parse_size(given);
  if (!threads || *threads == 0 || *threads > kThreadsMax) return wrong_value("-j", given, "a number of threads");
  return static_cast<unsigned>(*threads);
}

std::uint64_t default_work_memory() {
  constexpr std::uint64_t kMost = 256 << 20;
  return std::max(kWorkMemoryMin, std::min(kMost, default_memory(memory_limit().amount)));
}

}  // namespace tfilefs
