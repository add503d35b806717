// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tfile/node.h"
#include "tfile/result.h"

namespace tfilefs {

// The bytes before the items in a .npy file: magic, version, and a Python dictionary padded so that the items begin at
// a multiple of 64 bytes. Version 1.0; 2.0 where the dictionary is too long for that.
std::string npy_header(tfile::Dtype, const std::vector<std::uint32_t>& shape, std::int64_t length);

// The header of such a file, parsed. `start`: its first bytes, at least kNpyHeaderMax or all there are.
struct NpyHeader {
  tfile::Dtype dtype = tfile::Dtype::u1;
  std::vector<std::uint32_t> shape;  // of one item
  std::int64_t length = 0;
  std::size_t size = 0;  // of the header: where the items begin
};
// Errors: invalid (not a .npy file; items in big-endian or Fortran order, or of a type that columns do not have).
tfile::Result<NpyHeader> parse_npy_header(std::span<const std::byte> start);
inline constexpr std::size_t kNpyHeaderMax = 1 << 16;  // far more than a dictionary of three short entries takes

}  // namespace tfilefs
