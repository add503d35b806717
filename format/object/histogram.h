// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "object/object_arrays.h"

namespace tfile {

// values, variances and effective_entries, with and without flow bins, and the edges, of a histogram or profile of one
// to three dimensions. `prefix`: its path, with a '.' at the end unless empty.
Result<std::vector<ObjectArray>> histogram_arrays(const ObjectMembers&, const std::string& prefix,
                                                  std::size_t dimensions, bool is_profile);

// THn: the same for any number of dimensions. Edges are named by axis number.
Result<std::vector<ObjectArray>> dense_arrays(const ObjectMembers&);

// THnSparse: coordinates and contents of the filled cells.
Result<std::vector<ObjectArray>> sparse_arrays(const ObjectMembers&);

// The edges of the axis at this path.
ObjectArray edges_array(const ObjectMembers&, std::string axis, std::string name, std::uint32_t bins);

// The members with the axes, and what tables call these.
inline constexpr std::pair<const char*, const char*> kTableAxes[] = {{"fXaxis", "x"}, {"fYaxis", "y"}, {"fZaxis", "z"}};

// As histogram_bins(), of a histogram whose bins are drawn or tabulated in memory as a whole. Errors: also unsupported
// (too many).
Result<HistogramBins> small_bins(const ObjectMembers&, const std::string& prefix, std::size_t dimensions);

// Visits the cells without flow, x slowest.
template <class Put>
void each_inner_cell(const HistogramBins& h, Put put) {
  const std::uint64_t ny = h.bins.size() > 1 ? h.bins[1] : 1, nz = h.bins.size() > 2 ? h.bins[2] : 1;
  for (std::uint64_t x = 0; x < h.bins[0]; ++x)
    for (std::uint64_t y = 0; y < ny; ++y)
      for (std::uint64_t z = 0; z < nz; ++z)
        put(h.cell(x + 1, h.bins.size() > 1 ? y + 1 : 0, h.bins.size() > 2 ? z + 1 : 0), x, y, z);
}

void store_doubles(const std::vector<double>&, std::byte* to);

}  // namespace tfile
