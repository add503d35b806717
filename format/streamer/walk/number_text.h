// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "streamer/walk/object_visitor.h"

namespace tfile {

// Numbers as ROOT's JSON has them.
inline constexpr std::string_view kNumberSeparator = ", ";

// Appends number `at`, and as many behind it, with separators between them.
void append_numbers(std::string& to, const StoredNumbers&, std::size_t at, std::size_t count);

// The size of what append_numbers() appends. Most contents of histograms are small whole numbers, whose digits are
// counted without being written.
std::uint64_t size_of_numbers(const StoredNumbers&, std::size_t at, std::size_t count);

}  // namespace tfile
