// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "object/object_arrays.h"
#include "tfile/effort.h"
#include "tfile/plot.h"

namespace tfile {

// values, variances and effective_entries, with and without flow bins, and the edges, of a histogram or profile of one
// to three dimensions. `prefix`: its path, with a '.' at the end unless empty.
Result<std::vector<ObjectArray>> histogram_arrays(const ObjectMembers&, const std::string& prefix,
                                                  std::size_t dimensions, bool is_profile);

// THn: the same for any number of dimensions. Edges are named by axis number.
Result<std::vector<ObjectArray>> dense_arrays(const ObjectMembers&);

// THnSparse: coordinates and contents of the filled cells.
Result<std::vector<ObjectArray>> sparse_arrays(const ObjectMembers&);

// One line for each cell of a THn, and for each filled one of a THnSparse, without flow. Errors: damaged, unsupported
// (too many).
Result<Spreadsheet> dense_sheet(const ObjectMembers&, Effort&);
Result<Spreadsheet> sparse_sheet(const ObjectMembers&, Effort&);

// The edges of the axis at this path.
ObjectArray edges_array(const ObjectMembers&, std::string axis, std::string name, std::uint32_t bins);

void store_doubles(const std::vector<double>&, std::byte* to);

}  // namespace tfile
