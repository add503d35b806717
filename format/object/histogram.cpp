// SPDX-License-Identifier: Apache-2.0
#include "object/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include "bytes/endian.h"
#include "object/fill_buffer.h"
#include "streamer/walk/object_reader.h"

namespace tfile {
namespace {

constexpr std::array<std::string_view, 3> kAxisNames = {"x", "y", "z"};
constexpr std::array<std::string_view, 3> kAxisMembers = {"fXaxis", "fYaxis", "fZaxis"};

// Visits every cell in C order, x slowest. `put` gets the cell's number in ROOT's arrays, in which x is fastest.
template <class Put>
void each_cell(const HistogramBins& h, bool flow, Put put) {
  const std::size_t dimensions = h.bins.size();
  const auto begin = [&](std::size_t axis) -> std::uint64_t { return axis < dimensions && !flow ? 1 : 0; };
  const auto end = [&](std::size_t axis) -> std::uint64_t {
    return axis < dimensions ? h.bins[axis] + (flow ? 2ull : 1ull) : 1;
  };
  for (std::uint64_t x = begin(0); x < end(0); ++x)
    for (std::uint64_t y = begin(1); y < end(1); ++y)
      for (std::uint64_t z = begin(2); z < end(2); ++z) put(h.cell(x, y, z));
}

// Copies the stored numbers of every cell, in their own type.
void fill_stored(const HistogramBins& h, bool flow, const StoredNumbers& numbers, std::byte* to) {
  if (numbers.packing) {
    std::vector<double> values(numbers.count());
    numbers_as_double(numbers, values.data());
    return each_cell(h, flow, [&](std::uint64_t cell) {
      store_little(to, values[cell]);
      to += sizeof(double);
    });
  }
  const std::size_t size = size_of(numbers.dtype);
  each_cell(h, flow, [&](std::uint64_t cell) {
    std::reverse_copy(numbers.bytes.data() + cell * size, numbers.bytes.data() + (cell + 1) * size, to);
    to += size;
  });
}

// The same with the fills that wait in the buffer, as far as the type can hold the sums.
void fill_merged(const ObjectMembers& members, const std::string& prefix, const HistogramBins& h, bool flow,
                 Dtype dtype, std::byte* to) {
  const HistogramCells cells(members, prefix, h.bins.size(), false);
  const auto fill_as = [&]<class T>(T) {
    each_cell(h, flow, [&](std::uint64_t cell) {
      double value = cells.value(cell);
      if constexpr (std::is_integral_v<T>) {
        constexpr double kMax = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2;  // 2^n, one too many
        value = !(value > -kMax) ? -kMax : !(value < kMax) ? std::nextafter(kMax, 0) : value;
      }
      store_little(to, static_cast<T>(value));
      to += sizeof(T);
    });
  };
  switch (dtype) {
    case Dtype::i1:
      return fill_as(std::int8_t{});
    case Dtype::i2:
      return fill_as(std::int16_t{});
    case Dtype::i4:
      return fill_as(std::int32_t{});
    case Dtype::i8:
      return fill_as(std::int64_t{});
    case Dtype::f4:
      return fill_as(float{});
    default:
      return fill_as(double{});
  }
}

// An array with one dimension per axis, with or without flow bins.
ObjectArray shaped_array(std::string path, Dtype dtype, const std::vector<std::uint32_t>& bins, bool flow) {
  ObjectArray array;
  array.path = std::move(path);
  array.dtype = dtype;
  const std::uint32_t more = flow ? 2 : 0;
  array.length = bins[0] + more;
  for (std::size_t i = 1; i < bins.size(); ++i) array.shape.push_back(bins[i] + more);
  return array;
}

using CellValue = double (HistogramCells::*)(std::uint64_t) const;

}  // namespace

void store_doubles(const std::vector<double>& values, std::byte* to) {
  for (const double value : values) {
    store_little(to, value);
    to += sizeof value;
  }
}

Result<HistogramBins> histogram_bins(const ObjectMembers& members, const std::string& prefix, std::size_t dimensions) {
  HistogramBins h;
  h.cells = 1;
  const StoredNumbers* contents = members.numbers(prefix + "fArray");
  if (!contents) return fail(ErrorKind::damaged, "histogram: no contents in " + prefix + "fArray");
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::int64_t n = members.integer(prefix + std::string(kAxisMembers[i]) + ".fNbins", -1);
    if (n < 1 || static_cast<std::uint64_t>(n) > contents->count())
      return fail(ErrorKind::damaged, "histogram: fNbins of axis " + std::to_string(i) + " is " + std::to_string(n) +
                                          ", expected 1 to " + std::to_string(contents->count()));
    h.bins.push_back(static_cast<std::uint32_t>(n));
    h.cells *= static_cast<std::uint64_t>(n) + 2;
    // Both factors are below 2^31, so the product cannot overflow before the check.
    if (h.cells > contents->count()) break;
  }
  if (h.cells != contents->count() || h.bins.size() != dimensions) {
    return fail(ErrorKind::damaged, "histogram: fArray has " + std::to_string(contents->count()) +
                                        " numbers, its axes have " + std::to_string(h.cells) + " cells or more");
  }
  return h;
}

std::vector<std::string> axis_labels(const ObjectMembers& members, const std::string& path, std::uint32_t bins) {
  std::vector<std::string> labels;
  for (std::uint32_t i = 0; i < bins; ++i) {
    const std::string label = path + ".fLabels.arr." + std::to_string(i);
    if (members.class_name(label) != "TObjString") break;
    const std::int64_t bin = members.integer(label + ".fUniqueID", 0);
    if (bin < 1 || bin > bins) continue;
    labels.resize(bins);
    labels[static_cast<std::size_t>(bin - 1)] = members.text(label + ".fString");
  }
  return labels;
}

std::vector<double> axis_edges(const ObjectMembers& members, const std::string& axis, std::uint32_t bins) {
  const AxisBins all(members, axis, bins);
  std::vector<double> edges(bins + std::size_t{1});
  for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = all.edge(i);
  return edges;
}

AxisBins::AxisBins(const ObjectMembers& members, const std::string& axis, std::uint32_t bins) : bins_(bins) {
  const StoredNumbers* stored = members.numbers(axis + ".fXbins");
  if (stored && stored->count() == bins + std::size_t{1}) edges_ = members.doubles(axis + ".fXbins");
  low_ = members.number(axis + ".fXmin").value_or(0);
  high_ = members.number(axis + ".fXmax").value_or(1);
  width_ = (high_ - low_) / bins;
}

double AxisBins::edge(std::uint64_t i) const {
  if (!edges_.empty()) return edges_[i];
  return i == bins_ ? high_ : low_ + static_cast<double>(i) * width_;
}

HistogramCells::HistogramCells(const ObjectMembers& members, const std::string& prefix, std::size_t dimensions,
                               bool is_profile)
    : is_profile_(is_profile),
      contents_(members.doubles(prefix + "fArray")),
      squares_(members.doubles(prefix + "fSumw2")) {
  if (squares_.size() != contents_.size()) squares_.clear();
  if (!is_profile) {
    add_buffered(members, prefix, dimensions);
    return;
  }
  error_mode_ = static_cast<int>(members.integer(prefix + "fErrorMode", 0));
  entries_ = members.doubles(prefix + "fBinEntries");
  entries_.resize(contents_.size());
  squares_.resize(contents_.size());
  entry_squares_ = members.doubles(prefix + "fBinSumw2");
  if (entry_squares_.size() != contents_.size()) entry_squares_.clear();
  add_buffered(members, prefix, dimensions);
}

void HistogramCells::add_buffered(const ObjectMembers& members, const std::string& prefix, std::size_t dimensions) {
  if (!has_fill_buffer(members, prefix, dimensions)) return;
  if (is_profile_)
    merge_profile_buffer(members, prefix, dimensions, {contents_, squares_, entries_, entry_squares_});
  else
    merge_fill_buffer(members, prefix, dimensions, contents_, squares_);
}

CellReader::CellReader(const ObjectMembers& members, const PayloadBytes& payload, bool is_profile)
    : members_(members), is_profile_(is_profile) {
  const StoredNumbers* contents = members.numbers("fArray");
  const std::size_t count = contents ? contents->count() : 0;
  contents_ = numbers_of(members, payload, "fArray", count);
  squares_ = numbers_of(members, payload, "fSumw2", count);
  if (!is_profile) return;
  error_mode_ = static_cast<int>(members.integer("fErrorMode", 0));
  entries_ = numbers_of(members, payload, "fBinEntries", count);
  entry_squares_ = numbers_of(members, payload, "fBinSumw2", count);
}

// None, if there are not as many as cells.
CellReader::Numbers CellReader::numbers_of(const ObjectMembers& members, const PayloadBytes& payload, const char* name,
                                           std::size_t count) const {
  const StoredNumbers* stored = members.numbers(name);
  if (!stored || stored->count() != count || count == 0) return {};
  return {*stored, payload.place_of(stored->bytes), payload.reader()};
}

Result<std::vector<double>> CellReader::read(Numbers& numbers, std::uint64_t first, std::uint64_t count, bool is_there,
                                             bool once) {
  std::vector<double> values;
  if (!numbers.reader) {
    if (is_there) values.resize(count);
    return values;
  }
  const std::size_t width = numbers.stored.stored_size();
  StoredNumbers some = numbers.stored;
  TRY(some.bytes, numbers.reader->read({numbers.place.begin + first * width, count * width}));
  values.resize(count);
  numbers_as_double(some, values.data());
  if (once) numbers.reader.reset();
  return values;
}

Result<HistogramCells> CellReader::read(std::uint64_t first, std::uint64_t count, bool once) {
  HistogramCells cells;
  cells.is_profile_ = is_profile_;
  cells.error_mode_ = error_mode_;
  TRY(cells.contents_, read(contents_, first, count, true, once));
  TRY(cells.squares_, read(squares_, first, count, is_profile_, once));
  if (!is_profile_) return cells;
  TRY(cells.entries_, read(entries_, first, count, true, once));
  TRY(cells.entry_squares_, read(entry_squares_, first, count, false, once));
  return cells;
}

Result<HistogramCells> CellReader::read_all(std::size_t dimensions) && {
  TRY(HistogramCells cells, read(0, contents_.stored.count(), true));
  cells.add_buffered(members_, "", dimensions);
  return cells;
}

std::uint64_t HistogramCells::memory(const HistogramBins& h, bool is_profile) {
  return (is_profile ? 4 : 2) * h.cells * sizeof(double);
}

double HistogramCells::value(std::uint64_t cell) const {
  if (!is_profile_) return contents_[cell];
  return entries_[cell] == 0 ? 0 : contents_[cell] / entries_[cell];
}

double HistogramCells::effective_entries(std::uint64_t cell) const {
  if (entry_squares_.empty()) return entries_[cell];
  return entry_squares_[cell] == 0 ? 0 : entries_[cell] * entries_[cell] / entry_squares_[cell];
}

// TProfile::GetBinError by TProfile::EErrorType: 0: error of the mean; 1: spread; 2: error of the mean, or that of a
// whole number if the spread is 0; 3: measurements with known errors. Negative if there is no error, because of
// negative weights.
double HistogramCells::variance(std::uint64_t cell) const {
  if (!is_profile_) return squares_.empty() ? std::abs(contents_[cell]) : squares_[cell];
  const double sum = entries_[cell];
  if (sum == 0) return 0;
  if (error_mode_ == 3) return 1 / sum;
  const double mean = contents_[cell] / sum;
  const double spread = std::abs(squares_[cell] / sum - mean * mean);
  const double effective = effective_entries(cell);
  if (error_mode_ == 1) return spread;
  if (error_mode_ == 2 && spread == 0) return 1 / (12 * effective);
  return spread / effective;
}

namespace {

// The contents of a histogram that is no profile.
ObjectArray stored_values(const ObjectMembers& members, const std::string& prefix, const HistogramBins& h, bool flow) {
  const Dtype dtype = members.numbers(prefix + "fArray")->dtype;
  ObjectArray array = shaped_array(flow ? "flow/values" : "values", dtype, h.bins, flow);
  array.working = HistogramCells::memory(h, false);  // for buffered fills and packed numbers
  array.fill = [&members, prefix, h, flow](std::byte* to) {
    const StoredNumbers& contents = *members.numbers(prefix + "fArray");
    if (has_fill_buffer(members, prefix, h.bins.size()))
      return fill_merged(members, prefix, h, flow, contents.dtype, to);
    fill_stored(h, flow, contents, to);
  };
  return array;
}

}  // namespace

Result<std::vector<ObjectArray>> histogram_arrays(const ObjectMembers& members, const std::string& prefix,
                                                  std::size_t dimensions, bool is_profile) {
  TRY(const HistogramBins h, histogram_bins(members, prefix, dimensions));
  std::vector<ObjectArray> arrays;
  const auto add_cells = [&](const std::string& name, CellValue value) {
    for (const bool flow : {false, true}) {
      ObjectArray array = shaped_array((flow ? "flow/" : "") + name, Dtype::f8, h.bins, flow);
      array.working = HistogramCells::memory(h, is_profile);
      array.fill = [&members, prefix, is_profile, h, flow, value](std::byte* to) {
        const HistogramCells cells(members, prefix, h.bins.size(), is_profile);
        each_cell(h, flow, [&](std::uint64_t cell) {
          store_little(to, (cells.*value)(cell));
          to += sizeof(double);
        });
      };
      arrays.push_back(std::move(array));
    }
  };
  if (is_profile) {
    add_cells("values", &HistogramCells::value);
    add_cells("effective_entries", &HistogramCells::effective_entries);
  } else {
    for (const bool flow : {false, true}) arrays.push_back(stored_values(members, prefix, h, flow));
  }
  add_cells("variances", &HistogramCells::variance);
  for (std::size_t i = 0; i < dimensions; ++i) {
    arrays.push_back(
        edges_array(members, prefix + std::string(kAxisMembers[i]), std::string(kAxisNames[i]) + "edges", h.bins[i]));
    arrays.back().is_of_axis = true;
  }
  return arrays;
}

ObjectArray edges_array(const ObjectMembers& members, std::string axis, std::string name, std::uint32_t bins) {
  ObjectArray array;
  array.path = std::move(name);
  array.length = bins + std::uint64_t{1};
  array.working = array.length * sizeof(double);
  array.fill = [&members, axis = std::move(axis), bins](std::byte* to) {
    store_doubles(axis_edges(members, axis, bins), to);
  };
  return array;
}

Result<HistogramBins> small_bins(const ObjectMembers& members, const std::string& prefix, std::size_t dimensions) {
  // Larger ones are available as arrays.
  constexpr std::uint64_t kSmallCellsMax = 20'000'000;
  TRY(HistogramBins h, histogram_bins(members, prefix, dimensions));
  if (h.cells > kSmallCellsMax)
    return fail(ErrorKind::unsupported, "histogram: too many bins for this view; its arrays have them");
  return h;
}

}  // namespace tfile
