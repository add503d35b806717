// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tfilefs {

// Bytes of a file from `begin` up to, but not including, `end`.
struct FileSpan {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t size() const { return end - begin; }
  friend bool operator==(const FileSpan&, const FileSpan&) = default;
};

// The bytes of a file that a header "Range" asks for (RFC 9110, 14.2).
struct WantedBytes {
  enum class Part : std::uint8_t { whole, some, none };
  Part part = Part::whole;
  std::vector<FileSpan> ranges;  // of `some`: none is empty, in the order of the header
};

// `size`: of the file. `whole` where the header is not understood, has too many ranges, or ranges that are larger
// together than the file; `none` where all of them begin behind its end.
WantedBytes wanted_bytes(std::string_view header, std::uint64_t size);

}  // namespace tfilefs
