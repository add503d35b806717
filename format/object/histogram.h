// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
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

void store_doubles(const std::vector<double>&, std::byte* to);

}  // namespace tfile
