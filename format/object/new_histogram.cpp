// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "bytes/endian.h"
#include "streamer/info/object_append.h"
#include "streamer/info/streamer_info.h"
#include "tfile/new_object.h"
#include "tfile/number_type.h"

namespace tfile {
namespace {

// Versions in ROOT 6.40.
constexpr std::uint16_t kHistogramVersion[] = {3, 4, 4}, kDimensionVersion[] = {0, 5, 6};
constexpr std::uint16_t kBaseVersion = 8, kAxisVersion = 10, kListVersion = 5;
constexpr std::uint16_t kProfileVersion[] = {7, 8};  // TProfile, TProfile2D

// ROOT's style of a histogram that nobody has styled.
constexpr std::int16_t kBlue = 602, kSolid = 1001, kFont = 42;
constexpr double kNoLimit = -1111;  // of fMinimum and fMaximum
constexpr std::int32_t kNeutral = 2;

constexpr std::uint64_t kCellsMax = 1 << 27;  // so that a record has less than 1 GiB

// The number of a cell, flow included, in ROOT's order, in which x is the fastest axis.
struct Grid {
  std::array<std::uint64_t, 3> bins{1, 1, 1}, wide{1, 1, 1};  // wide: with flow
  std::size_t axes = 0;
  std::uint64_t cells() const { return wide[0] * wide[1] * wide[2]; }
};

// Calls visit(cell, item, is_inside, place) for each item of an array, whose slowest axis is x. `place`: the bin on
// each axis, from 0 for the first that is no underflow.
template <class Visit>
void for_each_item(const Grid& grid, bool has_flow, Visit visit) {
  std::array<std::uint64_t, 3> count{1, 1, 1}, shift{0, 0, 0};
  for (std::size_t axis = 0; axis < grid.axes; ++axis) {
    count[axis] = has_flow ? grid.wide[axis] : grid.bins[axis];
    shift[axis] = has_flow ? 0 : 1;
  }
  std::uint64_t item = 0;
  for (std::uint64_t x = 0; x < count[0]; ++x) {
    for (std::uint64_t y = 0; y < count[1]; ++y) {
      for (std::uint64_t z = 0; z < count[2]; ++z) {
        const std::array<std::uint64_t, 3> at{x + shift[0], y + shift[1], z + shift[2]};
        visit(at[0] + grid.wide[0] * (at[1] + grid.wide[1] * at[2]), item++, at);
      }
    }
  }
}

// Up to it, every integer has a double. Its neighbour above has not, and would become the same one: what is compared
// are the integers themselves.
constexpr std::int64_t kExactMax = std::int64_t{1} << 53;

template <class T>
constexpr T lowest_exact() {
  return std::is_signed_v<T> ? static_cast<T>(-kExactMax) : T{0};
}

// `is_exact` becomes false for an integer that has no double of its own.
double number_at(const std::byte* bytes, Dtype dtype, bool& is_exact) {
  const auto load = [&]<class T>(T) {
    const T value = load_little<T>(bytes);
    const auto number = static_cast<double>(value);
    if constexpr (sizeof(T) == sizeof(double) && std::is_integral_v<T>)
      is_exact = is_exact && value >= lowest_exact<T>() && value <= static_cast<T>(kExactMax);
    return number;
  };
  return with_number_type(dtype, load);
}

// The last letter of the class: the type of its contents.
char letter_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::i1:
      return 'C';
    case Dtype::b1:
    case Dtype::u1:
    case Dtype::i2:
      return 'S';
    case Dtype::u2:
    case Dtype::i4:
      return 'I';
    case Dtype::f4:
      return 'F';
    default:
      return 'D';
  }
}

Result<std::vector<double>> doubles_of(const OfferedHistogram::Numbers& numbers, const std::string& name) {
  std::vector<double> doubles(numbers.count());
  bool is_exact = true;
  for (std::size_t i = 0; i < doubles.size(); ++i)
    doubles[i] = number_at(numbers.bytes.data() + i * size_of(numbers.dtype), numbers.dtype, is_exact);
  if (!is_exact) return fail(ErrorKind::invalid, name + ": integers that a double cannot represent");
  return doubles;
}

// Also of numbers that are none.
bool is_same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// A histogram on its way from arrays to bytes.
class HistogramRecord {
 public:
  explicit HistogramRecord(const OfferedHistogram& from) : from_(from), out_(0) {}

  Result<NewObject> make() {
    if (!from_.values && !from_.flow_values) return fail(ErrorKind::invalid, "histogram has no values, or no xedges");
    TRY_VOID(read_axes());
    TRY_VOID(choose_class());
    TRY_VOID(read_values());
    TRY_VOID(read_weights());
    sum_up();
    append();
    NewObject object;
    object.name = from_.name;
    object.title = from_.title;
    object.class_name = object.classes.emplace_back(class_name_);
    object.payload = out_.take();
    std::vector<std::string> warnings;
    object.infos = std::make_shared<const StreamerInfos>(StreamerInfos::read({}, 0, warnings));
    return object;
  }

 private:
  Result<> read_axes();
  Result<> choose_class();
  Result<> read_values();
  Result<> read_weights();
  Result<std::vector<double>> cells_of(const OfferedHistogram::Grid&, bool has_flow, const std::string& name) const;
  Result<std::vector<double>> cells_of(const std::optional<OfferedHistogram::Grid>& inner,
                                       const std::optional<OfferedHistogram::Grid>& with_flow,
                                       const std::string& name) const;
  const OfferedHistogram::Grid& values() const { return from_.flow_values ? *from_.flow_values : *from_.values; }
  bool is_profile() const { return from_.flow_weights.has_value(); }
  OfferedHistogram::Moments moments_of_bins() const;
  void sum_up();
  void append();
  void append_histogram();
  void append_base();
  void append_axis(std::size_t axis);
  void append_doubles(std::span<const double> numbers);
  void append_contents();
  bool fits(double value) const;
  double centre(std::size_t axis, std::uint64_t bin) const { return (edges_[axis][bin - 1] + edges_[axis][bin]) / 2; }

  const OfferedHistogram& from_;
  ObjectAppender out_;
  Grid grid_;
  std::string class_name_;
  std::vector<std::vector<double>> edges_;
  std::vector<double> contents_, squares_;  // by cell; squares: empty if they are the absolute contents
  // Only a profile has them; squares: empty if all weights are 1.
  std::vector<double> weights_, weight_squares_;
  double entries_ = 0;
  OfferedHistogram::Moments moments_;
};

Result<> HistogramRecord::read_axes() {
  grid_.axes = from_.edges.size();
  if (grid_.axes < 1 || grid_.axes > 3) return fail(ErrorKind::invalid, "histogram has no values, or no xedges");
  for (std::size_t axis = 0; axis < grid_.axes; ++axis) {
    const std::string name = std::string(1, "xyz"[axis]) + "edges";
    TRY(std::vector<double> read, doubles_of(from_.edges[axis], name));
    const std::vector<double>& edges = edges_.emplace_back(std::move(read));
    if (edges.size() < 2)
      return fail(ErrorKind::invalid, name + ": has " + std::to_string(edges.size()) + " edges, expected at least two");
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const bool ascends = i == 0 || edges[i] > edges[i - 1];
      if (!std::isfinite(edges[i]) || !ascends)
        return fail(ErrorKind::invalid, name + ": edges are not in ascending order");
    }
    grid_.bins[axis] = edges.size() - 1;
    grid_.wide[axis] = grid_.bins[axis] + 2;
    if (grid_.wide[axis] > kCellsMax || grid_.cells() > kCellsMax)
      return fail(ErrorKind::invalid, "too many bins for a histogram");
  }
  return {};
}

Result<> HistogramRecord::choose_class() {
  if (is_profile()) {
    if (grid_.axes > 2) return fail(ErrorKind::invalid, "profile has three axes, expected one or two");
    class_name_ = grid_.axes == 1 ? "TProfile" : "TProfile2D";
    return {};
  }
  const std::string begin = "TH" + std::to_string(grid_.axes);
  class_name_ = from_.class_name.empty() ? begin + letter_of(values().dtype) : from_.class_name;
  const bool is_one = class_name_.size() == begin.size() + 1 && class_name_.starts_with(begin) &&
                      std::string_view("CSIFD").find(class_name_.back()) != std::string_view::npos;
  if (is_one) return {};
  return fail(ErrorKind::invalid, class_name_ + " cannot be made from arrays of " + std::to_string(grid_.axes) +
                                      " axes; expected TH1D, TH2F, ...");
}

bool HistogramRecord::fits(double value) const {
  const auto is_integer_of = [value]<class T>(T) {
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max() &&
           std::trunc(value) == value;
  };
  switch (class_name_.back()) {
    case 'C':
      return is_integer_of(std::int8_t{});
    case 'S':
      return is_integer_of(std::int16_t{});
    case 'I':
      return is_integer_of(std::int32_t{});
    case 'F':
      return std::isnan(value) || static_cast<double>(static_cast<float>(value)) == value;
    default:
      return true;
  }
}

// By cell; those of bins that the array does not have are 0.
Result<std::vector<double>> HistogramRecord::cells_of(const OfferedHistogram::Grid& array, bool has_flow,
                                                      const std::string& name) const {
  if (array.shape.size() + 1 != grid_.axes)
    return fail(ErrorKind::invalid, name + " of " + std::to_string(array.shape.size() + 1) +
                                        " dimensions with edges of " + std::to_string(grid_.axes));
  std::uint64_t items = 1;
  for (std::size_t axis = 0; axis < grid_.axes; ++axis) {
    const std::uint64_t bins = has_flow ? grid_.wide[axis] : grid_.bins[axis];
    if (axis > 0 && array.shape[axis - 1] != bins)
      return fail(ErrorKind::invalid, name + ": " + std::to_string(array.shape[axis - 1]) + " at each " +
                                          std::string(1, "xyz"[axis - 1]) + ", " + std::string(1, "xyz"[axis]) +
                                          "edges are for " + std::to_string(bins));
    items *= bins;
  }
  if (array.bytes.size() != items * size_of(array.dtype))
    return fail(ErrorKind::invalid,
                name + ": " + std::to_string(array.count()) + ", the edges are for " + std::to_string(items));
  TRY(const std::vector<double> numbers, doubles_of(array, name));
  std::vector<double> cells(grid_.cells());
  for_each_item(grid_, has_flow,
                [&](std::uint64_t cell, std::uint64_t item, const auto&) { cells[cell] = numbers[item]; });
  return cells;
}

// If there is an array with flow and one without, the first has all; the other must say the same. None: no cells.
Result<std::vector<double>> HistogramRecord::cells_of(const std::optional<OfferedHistogram::Grid>& inner,
                                                      const std::optional<OfferedHistogram::Grid>& with_flow,
                                                      const std::string& name) const {
  std::vector<double> inner_cells, cells;
  if (inner) {
    TRY(inner_cells, cells_of(*inner, false, name));
  }
  if (!with_flow) return inner_cells;
  TRY(cells, cells_of(*with_flow, true, "flow/" + name));
  if (!inner) return cells;
  bool is_same = true;
  for_each_item(grid_, false, [&](std::uint64_t cell, std::uint64_t, const auto&) {
    is_same = is_same && is_same_number(inner_cells[cell], cells[cell]);
  });
  if (!is_same) return fail(ErrorKind::invalid, name + " and flow/" + name + " contradict each other");
  return cells;
}

Result<> HistogramRecord::read_values() {
  if (!from_.flow_values && from_.flow_variances) return fail(ErrorKind::invalid, "flow/variances without flow/values");
  if (from_.flow_values && from_.variances && !from_.flow_variances)
    return fail(ErrorKind::invalid, "flow/values, and variances without flow/variances");
  TRY(contents_, cells_of(from_.values, from_.flow_values, "values"));
  if (!std::ranges::all_of(contents_, [this](double value) { return fits(value); }))
    return fail(ErrorKind::invalid, "values: numbers that a " + class_name_ + " cannot represent");
  TRY(squares_, cells_of(from_.variances, from_.flow_variances, "variances"));
  const bool differs =
      !std::ranges::equal(squares_, contents_, [](double square, double value) { return square == std::abs(value); });
  if (!differs && !is_profile()) squares_.clear();
  return {};
}

Result<> HistogramRecord::read_weights() {
  if (!is_profile()) return {};
  if (squares_.empty()) return fail(ErrorKind::invalid, "profile has no variances");
  TRY(weights_, cells_of(*from_.flow_weights, true, "flow/weights"));
  if (!from_.flow_weight_squares) return {};
  TRY(weight_squares_, cells_of(*from_.flow_weight_squares, true, "flow/weight_squares"));
  return {};
}

// As TH1::ResetStats and TProfile::ResetStats do.
OfferedHistogram::Moments HistogramRecord::moments_of_bins() const {
  OfferedHistogram::Moments of_bins;
  for_each_item(grid_, false, [&](std::uint64_t cell, std::uint64_t, const std::array<std::uint64_t, 3>& at) {
    const std::vector<double>& squares = is_profile() ? weight_squares_ : squares_;
    const double w = is_profile() ? weights_[cell] : contents_[cell];
    of_bins.weights += w;
    of_bins.squares += squares.empty() ? std::abs(w) : squares[cell];
    std::array<double, 3> middle{};
    for (std::size_t axis = 0; axis < grid_.axes; ++axis) {
      middle[axis] = centre(axis, at[axis]);
      of_bins.first[axis] += w * middle[axis];
      of_bins.second[axis] += w * middle[axis] * middle[axis];
    }
    of_bins.xy += w * middle[0] * middle[1];
    of_bins.xz += w * middle[0] * middle[2];
    of_bins.yz += w * middle[1] * middle[2];
    if (!is_profile()) return;
    of_bins.first[grid_.axes] += contents_[cell];
    of_bins.second[grid_.axes] += squares_[cell];
  });
  return of_bins;
}

void HistogramRecord::sum_up() {
  moments_ = from_.moments ? *from_.moments : moments_of_bins();
  const double sum = moments_.weights, squares = moments_.squares;
  const bool is_weighted = !(is_profile() ? weight_squares_ : squares_).empty() && sum > 0 && squares > 0;
  entries_ = from_.entries.value_or(is_weighted ? sum * sum / squares : std::abs(sum));
}

void HistogramRecord::append_doubles(std::span<const double> numbers) {
  out_.big(static_cast<std::int32_t>(numbers.size()));
  for (const double number : numbers) out_.big(number);
}

void HistogramRecord::append_axis(std::size_t axis) {
  const bool is_used = axis < grid_.axes;
  const std::vector<double> unused{0, 1};
  const std::vector<double>& edges = is_used ? edges_[axis] : unused;
  const auto bins = static_cast<std::int32_t>(edges.size() - 1);
  // As uniform bins are shown: by their width.
  const double width = (edges.back() - edges.front()) / bins;
  bool is_uniform = true;
  for (std::int32_t i = 0; i < bins; ++i)
    is_uniform = is_uniform && edges[static_cast<std::size_t>(i)] == edges.front() + i * width;
  const std::size_t opened = out_.open(kAxisVersion);
  out_.tnamed(std::string(1, "xyz"[axis]) + "axis", "");
  const std::size_t look = out_.open(4);
  out_.big(std::int32_t{510});  // fNdivisions
  for (const std::int16_t colour_or_font : {std::int16_t{1}, std::int16_t{1}, kFont}) out_.big(colour_or_font);
  for (const float length : {0.005f, 0.035f, 0.03f, axis == 1 ? 0.0f : 1.0f, 0.035f}) out_.big(length);
  for (const std::int16_t colour_or_font : {std::int16_t{1}, kFont}) out_.big(colour_or_font);
  out_.close(look);
  out_.big(bins);
  out_.big(edges.front());
  out_.big(edges.back());
  append_doubles(is_uniform ? std::span<const double>() : std::span<const double>(edges));
  out_.big(std::int32_t{0});  // fFirst, fLast
  out_.big(std::int32_t{0});
  out_.big(std::uint16_t{0});  // fBits2
  out_.u1(0);                  // fTimeDisplay
  out_.string("");
  out_.null_pointer();  // fLabels, fModLabs
  out_.null_pointer();
  out_.close(opened);
}

void HistogramRecord::append_base() {
  const std::size_t opened = out_.open(kBaseVersion);
  out_.tnamed(from_.name, from_.title);
  const auto attributes = [this](std::uint16_t version, std::initializer_list<std::int16_t> numbers) {
    const std::size_t of = out_.open(version);
    for (const std::int16_t number : numbers) out_.big(number);
    if (version == 3) out_.big(1.0f);  // fMarkerSize
    out_.close(of);
  };
  attributes(2, {kBlue, 1, 1});
  attributes(2, {0, kSolid});
  attributes(3, {1, 1});
  out_.big(static_cast<std::int32_t>(grid_.cells()));
  for (std::size_t axis = 0; axis < 3; ++axis) append_axis(axis);
  out_.big(std::int16_t{0});  // fBarOffset, fBarWidth
  out_.big(std::int16_t{1000});
  const double first = moments_.first[0], second = moments_.second[0];
  for (const double number : {entries_, moments_.weights, moments_.squares, first, second, kNoLimit, kNoLimit, 0.0})
    out_.big(number);
  append_doubles({});  // fContour
  append_doubles(squares_);
  out_.string("");  // fOption
  const std::size_t functions = out_.open(kListVersion);
  out_.tobject();
  out_.string("");
  out_.big(std::int32_t{0});
  out_.close(functions);
  out_.big(std::int32_t{0});  // fBufferSize, and no fBuffer
  out_.u1(0);
  out_.big(std::int32_t{0});  // fBinStatErrOpt
  out_.big(kNeutral);         // fStatOverflows
  out_.close(opened);
}

void HistogramRecord::append_contents() {
  out_.big(static_cast<std::int32_t>(contents_.size()));
  for (const double value : contents_) {
    switch (class_name_.back()) {
      case 'C':
        out_.big(static_cast<std::int8_t>(value));
        break;
      case 'S':
        out_.big(static_cast<std::int16_t>(value));
        break;
      case 'I':
        out_.big(static_cast<std::int32_t>(value));
        break;
      case 'F':
        out_.big(static_cast<float>(value));
        break;
      default:
        out_.big(value);
    }
  }
}

void HistogramRecord::append() {
  if (!is_profile()) return append_histogram();
  const std::size_t opened = out_.open(kProfileVersion[grid_.axes - 1]);
  append_histogram();
  append_doubles(weights_);
  out_.big(std::int32_t{0});  // fErrorMode: of the mean
  // First the limits of the value, which are none.
  for (const double number : {0.0, 0.0, moments_.first[grid_.axes], moments_.second[grid_.axes]}) out_.big(number);
  append_doubles(weight_squares_);
  out_.close(opened);
}

// The frame of TH2 or TH3 inside of that of the class; TH1 has none.
void HistogramRecord::append_histogram() {
  const std::array<double, 3>&first = moments_.first, &second = moments_.second;
  const std::size_t dimension = grid_.axes - 1;
  const std::size_t whole = out_.open(kHistogramVersion[dimension]);
  const std::size_t part = dimension == 0 ? 0 : out_.open(kDimensionVersion[dimension]);
  append_base();
  if (dimension == 1) {
    for (const double number : {1.0, first[1], second[1], moments_.xy}) out_.big(number);  // first: fScalefactor
  }
  if (dimension == 2) {
    out_.close(out_.open(1));  // TAtt3D
    for (const double number : {first[1], second[1], moments_.xy, first[2], second[2], moments_.xz, moments_.yz})
      out_.big(number);
  }
  if (dimension > 0) out_.close(part);
  append_contents();
  out_.close(whole);
}

}  // namespace

Result<NewObject> new_histogram(const OfferedHistogram& offered) { return HistogramRecord(offered).make(); }

}  // namespace tfile
