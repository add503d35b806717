// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "object/summed_payload.h"
#include "tfile/result.h"

namespace tfile {

// Whether histograms and profiles of this class of ROOT's own can be added to each other.
bool is_summed_histogram(std::string_view class_name);

// Adds the histogram at a path to the one that is there in another object, as TH1::Merge does for the same axes:
// contents, squares of weights, entries, moments. Changes `to` also where it fails. Errors: unsupported (other axes or
// labels, fills that are not in the bins yet, contents that are averages), damaged.
Result<> add_histogram(SummedPayload& to, const std::string& path, const SummedPayload& from);

// Whether the axis at a path of the one is that of the other, with its labels.
bool is_same_axis(const ObjectMembers& a, const ObjectMembers& b, const std::string& axis);

}  // namespace tfile
