// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/writer.h"

namespace tfile {

// The names under which the counter of a list is looked for, in this order: "nMuon_pt", "nMuon" for "Muon_pt". Pure.
std::vector<std::string> counter_names(std::string_view list);

// Whether each of the first `count` numbers of a column of integers is the length of its list: false if some cannot be
// read. Reads them; blocks.
bool are_lengths(const OfferedEntries&, std::uint32_t numbers, Dtype, std::uint32_t offsets, std::int64_t count);

}  // namespace tfile
