// SPDX-License-Identifier: Apache-2.0
#include "object/many_dimensions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "bytes/endian.h"
#include "object/histogram.h"

namespace tfile {
namespace {

std::string edges_name(std::size_t axis) { return "edges" + std::to_string(axis); }

void add_edges(const ObjectMembers& members, const std::vector<std::uint32_t>& bins, std::vector<ObjectArray>& arrays) {
  for (std::size_t i = 0; i < bins.size(); ++i)
    arrays.push_back(edges_array(members, axis_path(i), edges_name(i), bins[i]));
}

// Visits every cell in C order, which is also the order of THn, flow bins included.
template <class Put>
void each_index(const std::vector<std::uint32_t>& bins, bool flow, Put put) {
  std::vector<std::uint64_t> at(bins.size(), flow ? 0 : 1);
  for (;;) {
    std::uint64_t cell = 0;
    for (std::size_t i = 0; i < bins.size(); ++i) cell = cell * (bins[i] + 2ull) + at[i];
    put(cell);
    std::size_t axis = bins.size();
    while (axis > 0 && ++at[axis - 1] == bins[axis - 1] + (flow ? 2ull : 1ull)) at[--axis] = flow ? 0 : 1;
    if (axis == 0) return;
  }
}

// The filled cells of a THnSparse.
class SparseCells {
 public:
  static Result<SparseCells> read(const ObjectMembers& members, const std::vector<std::uint32_t>& bins) {
    SparseCells cells{PackedCoordinates(bins)};
    TRY(cells.counts_, cells_of_chunks(members, cells.packed_));
    return cells;
  }
  std::uint64_t count() const { return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}); }

  void fill_coordinates(const ObjectMembers& members, std::byte* to) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const std::byte* cell = members.numbers(chunk_path(i) + "fCoordinates")->bytes.data();
      for (std::size_t j = 0; j < counts_[i]; ++j, cell += packed_.cell_size()) {
        packed_.unpack(cell, [&](std::uint64_t bin) {
          store_little(to, static_cast<std::int32_t>(bin));
          to += sizeof(std::int32_t);
        });
      }
    }
  }

  // `squares`: fSumw2 instead of fContent; if there is none, absolute contents.
  void fill_numbers(const ObjectMembers& members, bool squares, std::byte* to) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      std::vector<double> values = members.doubles(chunk_path(i) + (squares ? "fSumw2" : "fContent"));
      if (squares && values.size() < counts_[i]) {
        values = members.doubles(chunk_path(i) + "fContent");
        for (double& value : values) value = std::abs(value);
      }
      values.resize(counts_[i]);
      store_doubles(values, to);
      to += values.size() * sizeof(double);
    }
  }

 private:
  explicit SparseCells(PackedCoordinates packed) : packed_(std::move(packed)) {}

  PackedCoordinates packed_;
  std::vector<std::size_t> counts_;  // of each chunk
};

ObjectArray dense_array(const std::string& name, const std::vector<std::uint32_t>& bins, bool flow, Dtype dtype) {
  const std::uint32_t more = flow ? 2 : 0;
  ObjectArray array;
  array.path = flow ? "flow/" + name : name;
  array.dtype = dtype;
  array.length = bins[0] + more;
  for (std::size_t i = 1; i < bins.size(); ++i) array.shape.push_back(bins[i] + more);
  return array;
}

ObjectArray dense_values(const ObjectMembers& members, const std::vector<std::uint32_t>& bins, bool flow) {
  ObjectArray values = dense_array("values", bins, flow, members.numbers("fArray.fData")->dtype);
  values.fill = [&members, bins, flow](std::byte* to) {
    const StoredNumbers& numbers = *members.numbers("fArray.fData");
    const std::size_t size = size_of(numbers.dtype);
    each_index(bins, flow, [&](std::uint64_t cell) {
      std::reverse_copy(numbers.bytes.data() + cell * size, numbers.bytes.data() + (cell + 1) * size, to);
      to += size;
    });
  };
  return values;
}

ObjectArray dense_variances(const ObjectMembers& members, const std::vector<std::uint32_t>& bins, bool flow) {
  const std::uint64_t cells = members.numbers("fArray.fData")->count();
  ObjectArray variances = dense_array("variances", bins, flow, Dtype::f8);
  variances.working = 2 * cells * sizeof(double);
  variances.fill = [&members, bins, flow, cells](std::byte* to) {
    std::vector<double> squares = members.doubles("fSumw2.fData");
    if (squares.size() != cells) {
      squares = members.doubles("fArray.fData");
      for (double& value : squares) value = std::abs(value);
    }
    each_index(bins, flow, [&](std::uint64_t cell) {
      store_little(to, squares[cell]);
      to += sizeof(double);
    });
  };
  return variances;
}

}  // namespace

std::string axis_path(std::size_t axis) { return "fAxes.arr." + std::to_string(axis); }

std::string chunk_path(std::size_t chunk) { return "fBinContent.arr." + std::to_string(chunk) + "."; }

Result<std::vector<std::uint32_t>> bins_of_axes(const ObjectMembers& members) {
  // A cell has at least one bit per axis, and names contain the whole shape.
  constexpr std::int64_t kDimensionsMax = 64;
  const std::int64_t dimensions = members.integer("fNdimensions", 0);
  if (dimensions < 1 || dimensions > kDimensionsMax)
    return fail(ErrorKind::damaged, "histogram: fNdimensions is " + std::to_string(dimensions) + ", expected 1 to " +
                                        std::to_string(kDimensionsMax));
  std::vector<std::uint32_t> bins;
  for (std::size_t i = 0; i < static_cast<std::size_t>(dimensions); ++i) {
    const std::int64_t n = members.integer(axis_path(i) + ".fNbins", -1);
    constexpr std::int64_t kBinsMax = 1 << 28;  // the key has at most 1 GiB
    if (n < 1 || n > kBinsMax)
      return fail(ErrorKind::damaged, "histogram: fNbins of axis " + std::to_string(i) + " is " + std::to_string(n) +
                                          ", expected 1 to " + std::to_string(kBinsMax));
    bins.push_back(static_cast<std::uint32_t>(n));
  }
  return bins;
}

Result<std::uint64_t> dense_cells(const ObjectMembers& members, const std::vector<std::uint32_t>& bins) {
  const StoredNumbers* contents = members.numbers("fArray.fData");
  std::uint64_t cells = 1;
  for (const std::uint32_t n : bins) {
    cells *= n + 2ull;
    if (!contents || cells > contents->count()) break;
  }
  if (!contents || cells != contents->count())
    return fail(ErrorKind::damaged, "THn: " + std::to_string(contents ? contents->count() : 0) +
                                        " contents do not match its axes of at least " + std::to_string(cells) +
                                        " bins");
  return cells;
}

PackedCoordinates::PackedCoordinates(const std::vector<std::uint32_t>& bins) {
  std::size_t bits = 0;
  for (const std::uint32_t n : bins) {
    bits_.push_back(static_cast<std::uint32_t>(std::bit_width(n + 2ull)));
    bits += bits_.back();
  }
  cell_size_ = (bits + 7) / 8;
}

std::uint64_t PackedCoordinates::bits_at(const std::byte* bytes, std::size_t first, std::uint32_t width) {
  std::uint64_t value = 0;
  for (std::uint32_t i = 0; i < width; ++i) {
    const std::size_t bit = first + i;
    const auto byte = std::to_integer<unsigned>(bytes[bit / 8]);
    value |= std::uint64_t{(byte >> (bit % 8)) & 1u} << i;
  }
  return value;
}

Result<std::vector<std::size_t>> cells_of_chunks(const ObjectMembers& members, const PackedCoordinates& packed) {
  std::vector<std::size_t> counts;
  for (std::size_t i = 0;; ++i) {
    const StoredNumbers* coordinates = members.numbers(chunk_path(i) + "fCoordinates");
    const StoredNumbers* contents = members.numbers(chunk_path(i) + "fContent");
    if (!coordinates || !contents) return counts;
    const std::size_t count = coordinates->bytes.size() / packed.cell_size();
    if (contents->count() < count)
      return fail(ErrorKind::damaged, "THnSparse: chunk " + std::to_string(i) + " has " +
                                          std::to_string(contents->count()) + " contents for " + std::to_string(count) +
                                          " coordinates");
    counts.push_back(count);
  }
}

Result<std::vector<ObjectArray>> dense_arrays(const ObjectMembers& members) {
  TRY(const std::vector<std::uint32_t> bins, bins_of_axes(members));
  TRY_VOID(dense_cells(members, bins));
  std::vector<ObjectArray> arrays;
  for (const bool flow : {false, true}) {
    arrays.push_back(dense_values(members, bins, flow));
    arrays.push_back(dense_variances(members, bins, flow));
  }
  add_edges(members, bins, arrays);
  return arrays;
}

Result<std::vector<ObjectArray>> sparse_arrays(const ObjectMembers& members) {
  TRY(const std::vector<std::uint32_t> bins, bins_of_axes(members));
  TRY(const SparseCells cells, SparseCells::read(members, bins));
  std::vector<ObjectArray> arrays(3);
  arrays[0].path = "coordinates";
  arrays[0].dtype = Dtype::i4;
  arrays[0].shape = {static_cast<std::uint32_t>(bins.size())};
  arrays[0].fill = [&members, cells](std::byte* to) { cells.fill_coordinates(members, to); };
  arrays[1].path = "values";
  arrays[1].fill = [&members, cells](std::byte* to) { cells.fill_numbers(members, false, to); };
  arrays[2].path = "variances";
  arrays[2].fill = [&members, cells](std::byte* to) { cells.fill_numbers(members, true, to); };
  for (ObjectArray& array : arrays) {
    array.length = cells.count();
    array.working = 2 * cells.count() * sizeof(double);
  }
  add_edges(members, bins, arrays);
  return arrays;
}

}  // namespace tfile
