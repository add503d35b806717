// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "object/object_members.h"

namespace tfile {

// Whether a histogram holds fills that ROOT would put into its bins before it tells of them: its axes are known, and it
// was not emptied before it was written.
bool has_fill_buffer(const ObjectMembers&, const std::string& prefix, std::size_t dimensions);

// Puts them into `contents`, the cells as ROOT numbers them, and `squares` (which may be empty: weights of 1), as
// TH1::BufferEmpty does.
void merge_fill_buffer(const ObjectMembers&, const std::string& prefix, std::size_t dimensions,
                       std::vector<double>& contents, std::vector<double>& squares);

// What a profile keeps of each cell. Of the last one may be none: weights of 1.
struct ProfileSums {
  std::vector<double>&values, &squares, &weights, &squared_weights;
};

// The same into these, as TProfile::BufferEmpty and its kin do.
void merge_profile_buffer(const ObjectMembers&, const std::string& prefix, std::size_t dimensions, ProfileSums);

}  // namespace tfile
