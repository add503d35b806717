// SPDX-License-Identifier: Apache-2.0
#include "descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace tfilefs {

std::size_t files_within_limit(std::size_t wanted, std::size_t share) {
  constexpr std::size_t kMin = 2;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  return std::clamp<std::size_t>(limit.rlim_cur / share, kMin, wanted);
}

}  // namespace tfilefs
