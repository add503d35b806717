// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "object/object_members.h"

namespace tfile {

// Whether a histogram has buffered fills that ROOT would put into the bins before using them: its axes are known, and
// the buffer was not emptied before writing.
bool has_fill_buffer(const ObjectMembers&, const std::string& prefix, std::size_t dimensions);

// Adds the fills to `contents`, the cells by ROOT's numbers, and to `squares` (empty if all weights are 1), as
// TH1::BufferEmpty does.
void merge_fill_buffer(const ObjectMembers&, const std::string& prefix, std::size_t dimensions,
                       std::vector<double>& contents, std::vector<double>& squares);

// The sums that a profile keeps per cell. `squared_weights` may be empty: all weights are 1.
struct ProfileSums {
  std::vector<double>&values, &squares, &weights, &squared_weights;
};

// The same for a profile, as TProfile::BufferEmpty and similar functions do.
void merge_profile_buffer(const ObjectMembers&, const std::string& prefix, std::size_t dimensions, ProfileSums);

}  // namespace tfile
