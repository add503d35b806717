// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace tfilefs {

// "90" and "1.5": seconds; with units "500ms", "90s", "10min" or "10m", "2h", "1d", and sums as "1h30m", up to thirty
// years. Pure.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view);

}  // namespace tfilefs
