// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/payload_bytes.h"
#include "object/object_members.h"
#include "tfile/node.h"
#include "tfile/result.h"

namespace tfile {

// One array of an object: its path, its form, and how to make it. `fill` reads the ObjectMembers from which the array
// was made.
struct ObjectArray {
  std::string path;  // below the object, without type: "flow/values"
  Dtype dtype = Dtype::f8;
  std::vector<std::uint32_t> shape;
  std::uint64_t length = 0;                 // items of the whole shape
  std::function<void(std::byte* to)> fill;  // writes `length` items, little-endian
  std::uint64_t working = 0;                // bytes that `fill` needs while it runs
  bool is_of_axis = false;                  // made of an axis alone, without contents
  bool is_drawn_apart = false;              // as one of many such arrays, each with all of the coordinates

  std::uint64_t size() const;  // in bytes
};

// The kinds of objects that have arrays.
enum class ObjectFamily : std::uint8_t { other, histogram, profile, dense, sparse, efficiency, graph };
struct ObjectKind {
  ObjectFamily family = ObjectFamily::other;
  std::size_t dimensions = 0;  // of histograms and profiles
};
ObjectKind kind_of_object(const StreamerInfos&, std::string_view class_name);
// Whether bins are its contents: of histograms and profiles.
inline bool has_contents(ObjectFamily family) {
  return family == ObjectFamily::histogram || family == ObjectFamily::profile;
}

// The arrays of an object of that kind (docs/semantics/objects.md, "Arrays"); none for other kinds. Errors: damaged
// (members are missing or contradict each other).
Result<std::vector<ObjectArray>> object_arrays(const ObjectKind&, const StreamerInfos&, const ObjectMembers&);

// The binning of a histogram: the bins of each axis without the two for flow, and the place of a cell in its arrays.
struct HistogramBins {
  std::vector<std::uint32_t> bins;
  std::uint64_t cells = 0;  // including flow
  std::uint64_t cell(std::uint64_t x, std::uint64_t y = 0, std::uint64_t z = 0) const {
    const std::uint64_t wide = bins[0] + 2ull, high = bins.size() > 1 ? bins[1] + 2ull : 1;
    return x + wide * (y + high * z);
  }
};
// `prefix`: path of the histogram, with a '.' at the end unless empty. Errors: damaged.
Result<HistogramBins> histogram_bins(const ObjectMembers&, const std::string& prefix, std::size_t dimensions);

// The edges of an axis' bins: as stored, or of equal width.
std::vector<double> axis_edges(const ObjectMembers&, const std::string& axis, std::uint32_t bins);

// The labels of an axis' bins: one for each (may be empty), or none at all.
std::vector<std::string> axis_labels(const ObjectMembers&, const std::string& axis, std::uint32_t bins);

// The edges without a number for each of them.
class AxisBins {
 public:
  AxisBins(const ObjectMembers&, const std::string& axis, std::uint32_t bins);
  double edge(std::uint64_t i) const;  // `i` up to the number of bins

 private:
  std::uint32_t bins_;
  double low_ = 0, high_ = 1, width_ = 1;
  std::vector<double> edges_;  // as stored; empty: all bins are equal
};

// The content of a cell and its variance, as ROOT's GetBinContent and the square of GetBinError give them.
class HistogramCells {
 public:
  HistogramCells() = default;
  HistogramCells(const ObjectMembers&, const std::string& prefix, std::size_t dimensions, bool is_profile);
  double value(std::uint64_t cell) const;
  double variance(std::uint64_t cell) const;
  double effective_entries(std::uint64_t cell) const;

  // The most bytes that one of these objects takes.
  static std::uint64_t memory(const HistogramBins&, bool is_profile);

 private:
  friend class CellReader;
  // Adds the fills of a histogram that has a fill buffer.
  void add_buffered(const ObjectMembers&, const std::string& prefix, std::size_t dimensions);

  bool is_profile_ = false;
  int error_mode_ = 0;
  std::vector<double> contents_, squares_, entries_, entry_squares_;
};

// Reads cells of a histogram, so many at a time, of a payload that need not be in memory. In their order this is fast.
class CellReader {
 public:
  // Both must outlive this.
  CellReader(const ObjectMembers&, const PayloadBytes&, bool is_profile);
  // The cells from `first` on; these count from 0. The histogram must have no fill buffer. Errors: those of the
  // payload.
  Result<HistogramCells> read(std::uint64_t first, std::uint64_t count) { return read(first, count, false); }
  // All of them, as HistogramCells has them of a payload that is in memory. Nothing is read later.
  Result<HistogramCells> read_all(std::size_t dimensions) &&;

 private:
  struct Numbers {
    StoredNumbers stored;
    ByteRange place;
    std::unique_ptr<PayloadReader> reader;  // nullptr: there are none
  };
  Numbers numbers_of(const ObjectMembers&, const PayloadBytes&, const char* name, std::size_t count) const;
  // `once`: of each array its reader, and the block that it holds, go before the next is read.
  Result<HistogramCells> read(std::uint64_t first, std::uint64_t count, bool once);
  static Result<std::vector<double>> read(Numbers&, std::uint64_t first, std::uint64_t count, bool is_there, bool once);

  const ObjectMembers& members_;
  const bool is_profile_;
  int error_mode_ = 0;
  Numbers contents_, squares_, entries_, entry_squares_;
};

}  // namespace tfile
