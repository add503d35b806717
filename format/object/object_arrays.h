// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "object/object_members.h"
#include "tfile/node.h"
#include "tfile/result.h"

namespace tfile {

// One array of an object: where it shows, what it holds, and how to make it. `fill` looks into the ObjectMembers that
// the array was made of.
struct ObjectArray {
  std::string path;  // below the object, without type: "flow/values"
  Dtype dtype = Dtype::f8;
  std::vector<std::uint32_t> shape;
  std::uint64_t length = 0;                 // items of the whole shape
  std::function<void(std::byte* to)> fill;  // length * size of an item bytes, little-endian
  std::uint64_t working = 0;                // bytes that `fill` takes meanwhile
  bool is_drawn_apart = false;              // as one of many such, each with all of the coordinates

  std::uint64_t size() const;  // in bytes
};

// What kind of object has arrays.
enum class ObjectFamily : std::uint8_t { other, histogram, profile, dense, sparse, efficiency, graph };
struct ObjectKind {
  ObjectFamily family = ObjectFamily::other;
  std::size_t dimensions = 0;  // of histograms and profiles
};
ObjectKind kind_of_object(const StreamerInfos&, std::string_view class_name);

// The arrays of an object of that kind (docs/semantics.md, "Objects"); none for others. Errors: damaged (members that
// are missing or contradict each other).
Result<std::vector<ObjectArray>> object_arrays(const ObjectKind&, const StreamerInfos&, const ObjectMembers&);

// The binning of a histogram: bins of each axis without the two for flow, and where a cell lies in its arrays.
struct HistogramBins {
  std::vector<std::uint32_t> bins;
  std::uint64_t cells = 0;  // flow included
  std::uint64_t cell(std::uint64_t x, std::uint64_t y = 0, std::uint64_t z = 0) const {
    const std::uint64_t wide = bins[0] + 2ull, high = bins.size() > 1 ? bins[1] + 2ull : 1;
    return x + wide * (y + high * z);
  }
};
// `prefix`: path of the histogram, ended by '.' unless empty. Errors: damaged.
Result<HistogramBins> histogram_bins(const ObjectMembers&, const std::string& prefix, std::size_t dimensions);

// The borders of an axis' bins: as stored, or of equal width.
std::vector<double> axis_edges(const ObjectMembers&, const std::string& axis, std::uint32_t bins);

// Content and its variance in one cell, as ROOT's GetBinContent and GetBinError squared give them.
class HistogramCells {
 public:
  HistogramCells(const ObjectMembers&, const std::string& prefix, std::size_t dimensions, bool is_profile);
  double value(std::uint64_t cell) const;
  double variance(std::uint64_t cell) const;
  double effective_entries(std::uint64_t cell) const;

  // Bytes that one of these takes at most.
  static std::uint64_t memory(const HistogramBins&, bool is_profile);

 private:
  bool is_profile_ = false;
  int error_mode_ = 0;
  std::vector<double> contents_, squares_, entries_, entry_squares_;
};

}  // namespace tfile
