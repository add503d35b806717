// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "staging/overlay/staged_node.h"
#include "staging/overlay/staged_table.h"

namespace tfilefs {

// The files that a mount shows of every object.
inline constexpr std::string_view kObjectBytes = "object.bin", kObjectJson = "object.json",
                                  kObjectStreamerInfo = "object.streamerinfo";
bool is_object_file(std::string_view name);
// The numbers of an object as text, where a mount lists its views.
inline constexpr std::string_view kObjectSheet = "table.csv";

// Whether a new directory becomes an object: it holds object.bin, or arrays as those of a histogram and nothing else.
bool makes_object(const StagedNode& directory);

// Whether an object is staged in a directory or below.
bool holds_objects(const StagedNode& directory);

}  // namespace tfilefs
