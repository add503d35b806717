// SPDX-License-Identifier: Apache-2.0
#include "descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace tfilefs {

std::size_t files_within_limit(std::size_t wanted, std::size_t descriptors) {
  constexpr std::size_t kMin = 2, kBesides = 32;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  const std::size_t left = limit.rlim_cur > kBesides ? limit.rlim_cur - kBesides : 0;
  return std::clamp<std::size_t>(left / descriptors, kMin, wanted);
}

}  // namespace tfilefs
