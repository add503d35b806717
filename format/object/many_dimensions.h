// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "object/object_arrays.h"

namespace tfile {

// The bins of each axis of a THn or THnSparse, without the two for flow. Errors: damaged.
Result<std::vector<std::uint32_t>> bins_of_axes(const ObjectMembers&);
std::string axis_path(std::size_t axis);

// The cells of a THn with flow, which are stored in C order. Errors: damaged (its contents are not as many).
Result<std::uint64_t> dense_cells(const ObjectMembers&, const std::vector<std::uint32_t>& bins);

// The coordinates of a cell of a THnSparse are packed to the number of bits that each axis needs, with its flow bins.
class PackedCoordinates {
 public:
  explicit PackedCoordinates(const std::vector<std::uint32_t>& bins);
  std::size_t cell_size() const { return cell_size_; }  // in bytes
  // Puts the number of the cell's bin on each axis. 0 is the underflow.
  template <class Put>
  void unpack(const std::byte* cell, Put put) const {
    std::size_t bit = 0;
    for (const std::uint32_t width : bits_) {
      put(bits_at(cell, bit, width));
      bit += width;
    }
  }

 private:
  static std::uint64_t bits_at(const std::byte* bytes, std::size_t first, std::uint32_t width);

  std::vector<std::uint32_t> bits_;
  std::size_t cell_size_ = 0;
};

// The filled cells of a THnSparse are stored in chunks: how many there are in each. Errors: damaged.
Result<std::vector<std::size_t>> cells_of_chunks(const ObjectMembers&, const PackedCoordinates&);
std::string chunk_path(std::size_t chunk);  // with a '.' at the end

}  // namespace tfile
