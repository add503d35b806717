// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>

#include "bytes/endian.h"
#include "object/histogram.h"

namespace tfile {
namespace {

// A cell has at least one bit per axis, and names contain the whole shape.
constexpr std::size_t kDimensionsMax = 64;

std::string axis_path(std::size_t axis) { return "fAxes.arr." + std::to_string(axis); }
std::string edges_name(std::size_t axis) { return "edges" + std::to_string(axis); }

Result<std::vector<std::uint32_t>> axes_of(const ObjectMembers& members) {
  const std::int64_t dimensions = members.integer("fNdimensions", 0);
  if (dimensions < 1 || dimensions > static_cast<std::int64_t>(kDimensionsMax))
    return fail(ErrorKind::damaged, "histogram: fNdimensions is " + std::to_string(dimensions));
  std::vector<std::uint32_t> bins;
  for (std::size_t i = 0; i < static_cast<std::size_t>(dimensions); ++i) {
    const std::int64_t n = members.integer(axis_path(i) + ".fNbins", -1);
    constexpr std::int64_t kBinsMax = 1 << 28;  // the key has at most 1 GiB
    if (n < 1 || n > kBinsMax) return fail(ErrorKind::damaged, "histogram: fNbins of axis " + std::to_string(i));
    bins.push_back(static_cast<std::uint32_t>(n));
  }
  return bins;
}

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

// The filled cells of a THnSparse are stored in chunks. Their coordinates are packed to the number of bits that each
// axis needs, with its flow bins.
class SparseChunks {
 public:
  static Result<SparseChunks> read(const ObjectMembers& members, const std::vector<std::uint32_t>& bins) {
    SparseChunks chunks;
    for (const std::uint32_t n : bins) {
      chunks.bits_.push_back(static_cast<std::uint32_t>(std::bit_width(n + 2ull)));
      chunks.bits_per_cell_ += chunks.bits_.back();
    }
    for (std::size_t i = 0;; ++i) {
      const std::string path = chunk_path(i);
      const StoredNumbers* coordinates = members.numbers(path + "fCoordinates");
      const StoredNumbers* contents = members.numbers(path + "fContent");
      if (!coordinates || !contents) break;
      const std::size_t cell_bytes = chunks.cell_bytes();
      const std::size_t count = coordinates->bytes.size() / cell_bytes;
      if (contents->count() < count)
        return fail(ErrorKind::damaged, "THnSparse: chunk " + std::to_string(i) + " has " +
                                            std::to_string(contents->count()) + " contents for " +
                                            std::to_string(count) + " coordinates");
      chunks.counts_.push_back(count);
      chunks.cells_ += count;
    }
    return chunks;
  }
  static std::string chunk_path(std::size_t i) { return "fBinContent.arr." + std::to_string(i) + "."; }
  std::uint64_t cells() const { return cells_; }
  const std::vector<std::size_t>& counts() const { return counts_; }

  void fill_coordinates(const ObjectMembers& members, std::byte* to) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const std::byte* cell = members.numbers(chunk_path(i) + "fCoordinates")->bytes.data();
      for (std::size_t j = 0; j < counts_[i]; ++j, cell += cell_bytes()) {
        std::size_t bit = 0;
        for (const std::uint32_t width : bits_) {
          store_little(to, static_cast<std::int32_t>(bits_at(cell, bit, width)));
          to += sizeof(std::int32_t);
          bit += width;
        }
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
  std::size_t cell_bytes() const { return (bits_per_cell_ + 7) / 8; }
  static std::uint64_t bits_at(const std::byte* bytes, std::size_t first, std::uint32_t width) {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < width; ++i) {
      const std::size_t bit = first + i;
      const auto byte = std::to_integer<unsigned>(bytes[bit / 8]);
      value |= std::uint64_t{(byte >> (bit % 8)) & 1u} << i;
    }
    return value;
  }

  std::vector<std::uint32_t> bits_;
  std::size_t bits_per_cell_ = 0;
  std::vector<std::size_t> counts_;
  std::uint64_t cells_ = 0;
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

// The lines of a table: one for each cell that is none of flow.
class CellLines {
 public:
  CellLines(const ObjectMembers& members, const std::vector<std::uint32_t>& bins) : bins_(bins), at_(bins.size()) {
    constexpr std::uint32_t kNamedBinsMax = 1 << 20;
    for (std::size_t i = 0; i < bins.size(); ++i) {
      axes_.emplace_back(members, axis_path(i), bins[i]);
      labels_.emplace_back();
      if (bins[i] <= kNamedBinsMax) labels_[i] = axis_labels(members, axis_path(i), bins[i]);
      for (const char* side : {"_low", "_high"}) sheet_.names.push_back("axis" + std::to_string(i) + side);
      if (!labels_[i].empty()) sheet_.text_names.push_back("axis" + std::to_string(i) + "_label");
    }
    sheet_.names.insert(sheet_.names.end(), {"value", "error"});
    sheet_.columns.resize(sheet_.names.size());
    sheet_.texts.resize(sheet_.text_names.size());
  }

  // The number of the next cell's bin on each axis. 0 is the underflow.
  std::vector<std::uint64_t>& at() { return at_; }
  void add(double value, double variance) {
    for (std::size_t i = 0; i < at_.size(); ++i)
      if (at_[i] < 1 || at_[i] > bins_[i]) return;
    std::size_t texts = 0;
    for (std::size_t i = 0; i < at_.size(); ++i) {
      sheet_.columns[2 * i].push_back(axes_[i].edge(at_[i] - 1));
      sheet_.columns[2 * i + 1].push_back(axes_[i].edge(at_[i]));
      if (!labels_[i].empty()) sheet_.texts[texts++].push_back(labels_[i][at_[i] - 1]);
    }
    sheet_.columns[2 * at_.size()].push_back(value);
    sheet_.columns[2 * at_.size() + 1].push_back(std::sqrt(variance));
  }
  Spreadsheet take() { return std::move(sheet_); }

 private:
  const std::vector<std::uint32_t> bins_;
  std::vector<std::uint64_t> at_;
  std::vector<AxisBins> axes_;
  std::vector<std::vector<std::string>> labels_;
  Spreadsheet sheet_;
};

Result<std::vector<std::byte>> filled(const ObjectArray& array) {
  constexpr std::uint64_t kTableNumbersMax = 20'000'000;
  if (array.size() / size_of(array.dtype) > kTableNumbersMax)
    return fail(ErrorKind::unsupported, "histogram: too many bins for this view; its arrays have them");
  std::vector<std::byte> bytes(array.size());
  array.fill(bytes.data());
  return bytes;
}

}  // namespace

Result<std::vector<ObjectArray>> dense_arrays(const ObjectMembers& members) {
  TRY(const std::vector<std::uint32_t> bins, axes_of(members));
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
  std::vector<ObjectArray> arrays;
  for (const bool flow : {false, true}) {
    arrays.push_back(dense_values(members, bins, flow));
    arrays.push_back(dense_variances(members, bins, flow));
  }
  add_edges(members, bins, arrays);
  return arrays;
}

Result<std::vector<ObjectArray>> sparse_arrays(const ObjectMembers& members) {
  TRY(const std::vector<std::uint32_t> bins, axes_of(members));
  TRY(const SparseChunks chunks, SparseChunks::read(members, bins));
  std::vector<ObjectArray> arrays(3);
  arrays[0].path = "coordinates";
  arrays[0].dtype = Dtype::i4;
  arrays[0].shape = {static_cast<std::uint32_t>(bins.size())};
  arrays[0].fill = [&members, chunks](std::byte* to) { chunks.fill_coordinates(members, to); };
  arrays[1].path = "values";
  arrays[1].fill = [&members, chunks](std::byte* to) { chunks.fill_numbers(members, false, to); };
  arrays[2].path = "variances";
  arrays[2].fill = [&members, chunks](std::byte* to) { chunks.fill_numbers(members, true, to); };
  for (ObjectArray& array : arrays) {
    array.length = chunks.cells();
    array.working = 2 * chunks.cells() * sizeof(double);
  }
  add_edges(members, bins, arrays);
  return arrays;
}

Result<Spreadsheet> dense_sheet(const ObjectMembers& members, Effort& effort) {
  TRY(const std::vector<ObjectArray> arrays, dense_arrays(members));
  TRY(const std::vector<std::uint32_t> bins, axes_of(members));
  TRY(const std::vector<std::byte> variances, filled(arrays[1]));
  const std::vector<double> contents = members.doubles("fArray.fData");
  CellLines lines(members, bins);
  std::size_t line = 0;
  each_index(bins, false, [&](std::uint64_t cell) {
    std::uint64_t rest = cell;
    for (std::size_t i = bins.size(); i-- > 0; rest /= bins[i] + 2ull) lines.at()[i] = rest % (bins[i] + 2ull);
    lines.add(contents[cell], load_little<double>(variances.data() + sizeof(double) * line++));
  });
  TRY_VOID(effort.check());
  return lines.take();
}

Result<Spreadsheet> sparse_sheet(const ObjectMembers& members, Effort& effort) {
  TRY(const std::vector<ObjectArray> arrays, sparse_arrays(members));
  TRY(const std::vector<std::uint32_t> bins, axes_of(members));
  TRY(const std::vector<std::byte> coordinates, filled(arrays[0]));
  TRY(const std::vector<std::byte> values, filled(arrays[1]));
  TRY(const std::vector<std::byte> variances, filled(arrays[2]));
  CellLines lines(members, bins);
  const std::byte* coordinate = coordinates.data();
  for (std::size_t cell = 0; cell < arrays[1].length; ++cell) {
    for (std::uint64_t& at : lines.at()) {
      at = load_little<std::uint32_t>(coordinate);
      coordinate += sizeof(std::int32_t);
    }
    lines.add(load_little<double>(values.data() + sizeof(double) * cell),
              load_little<double>(variances.data() + sizeof(double) * cell));
  }
  TRY_VOID(effort.check());
  return lines.take();
}

}  // namespace tfile
