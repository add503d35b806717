// SPDX-License-Identifier: Apache-2.0
#include "object/histogram_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "bytes/endian.h"
#include "object/fill_buffer.h"
#include "object/object_arrays.h"
#include "object/object_members.h"
#include "streamer/walk/payload_edit.h"

namespace tfile {
namespace {

constexpr std::string_view kSummedAxes[] = {"fXaxis", "fYaxis", "fZaxis"};

// Sums over all fills. Not all of them are in every class.
constexpr std::string_view kMoments[] = {"fTsumw",   "fTsumw2",  "fTsumwx", "fTsumwx2", "fTsumwy",
                                         "fTsumwy2", "fTsumwxy", "fTsumwz", "fTsumwz2", "fTsumwxz",
                                         "fTsumwyz", "fTsumwt",  "fTsumwt2"};

// TH1::kIsAverage, in fBits: contents are averages, not sums.
constexpr std::int64_t kIsAverageBit = 1 << 18;

// TH1F, TH2D, ...: a dimension, and a letter for the type of the contents.
constexpr std::string_view kDimensions = "123", kContents = "CSILFD";
constexpr std::size_t kNameSize = std::string_view("TH1F").size();

// The sum of two contents, as far as the type can hold it: integers stay away from the lowest value, as in ROOT.
template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    constexpr T kMax = std::numeric_limits<T>::max();
    T sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) return a > 0 ? kMax : static_cast<T>(-kMax);
    return std::max(sum, static_cast<T>(-kMax));
  } else {
    return a + b;
  }
}

template <class T>
void add_numbers(std::byte* to, std::span<const std::byte> from) {
  for (std::size_t at = 0; at < from.size(); at += sizeof(T))
    store_big(to + at, sum_of(load_big<T>(to + at), load_big<T>(from.data() + at)));
}

class HistogramSum final : public StoredHistogram {
 public:
  HistogramSum(std::shared_ptr<const StreamerInfos> infos, std::string class_name, std::vector<std::byte> payload,
               std::uint32_t keylen)
      : infos_(std::move(infos)), class_name_(std::move(class_name)), payload_(std::move(payload)), keylen_(keylen) {}

  Result<> open() {
    TRY_VOID(read());
    const ObjectKind kind = kind_of_object(*infos_, class_name_);
    dimensions_ = kind.dimensions;
    is_profile_ = kind.family == ObjectFamily::profile;
    if (!is_profile_ && kind.family != ObjectFamily::histogram) return fail(ErrorKind::unsupported, "no histogram");
    TRY_VOID(histogram_bins(members_, "", dimensions_));
    for (const std::string_view name : {"fSumw2", "fBinEntries", "fBinSumw2"}) {
      const std::size_t count = members_.doubles(name).size();
      if (count != 0 && count != cells()) return fail(ErrorKind::damaged, std::string(name) + ": not one for each bin");
    }
    if (is_profile_ && !(has("fSumw2") && has("fBinEntries")))
      return fail(ErrorKind::damaged, "profile: without entries of bins");
    return {};
  }

  std::span<const std::byte> payload() const override { return payload_; }

  Result<> add(const StoredHistogram& given) override {
    const auto* const other = dynamic_cast<const HistogramSum*>(&given);
    if (other == nullptr) return fail(ErrorKind::invalid, "no histogram of this kind");
    TRY_VOID(check(*other));
    TRY_VOID(keep_squares(*other));
    if (other->is_empty()) return {};
    const bool has_moments = keeps_moments() && other->keeps_moments();
    add_squares(*other);
    add_contents(*other);
    add_number(*other, "fEntries");
    for (const std::string_view moment : kMoments) {
      if (has_moments) {
        add_number(*other, moment);
      } else if (const std::span<std::byte> number = numbers(moment); number.size() == sizeof(double)) {
        store_big(number.data(), 0.0);
      }
    }
    return {};
  }

 private:
  // After each change of the payload's length.
  Result<> read() {
    TRY(members_, ObjectMembers::read(*infos_, class_name_, payload_, keylen_));
    return {};
  }

  // The bytes of a member, in this payload.
  std::span<std::byte> numbers(std::string_view name) {
    const StoredNumbers* const found = members_.numbers(name);
    if (found == nullptr) return {};
    return std::span(payload_).subspan(static_cast<std::size_t>(found->bytes.data() - payload_.data()),
                                       found->bytes.size());
  }
  std::size_t cells() const { return members_.numbers("fArray")->count(); }
  bool has(std::string_view name) const {
    const StoredNumbers* const found = members_.numbers(name);
    return found != nullptr && found->count() > 0;
  }
  double number(std::string_view name) const { return members_.number(name).value_or(0); }

  // As TH1::IsEmpty and TH1::GetStats decide.
  bool is_empty() const {
    if (number("fTsumw") != 0 || number("fEntries") != 0) return false;
    return std::ranges::all_of(members_.doubles("fArray"), [](double content) { return content == 0; });
  }
  bool keeps_moments() const { return number("fTsumw") != 0 || number("fEntries") == 0; }

  Result<> check(const HistogramSum& other) const {
    const auto refuse = [](const char* why) { return fail(ErrorKind::unsupported, why); };
    if (class_name_ != other.class_name_) return refuse("its class is another");
    for (const HistogramSum* each : {this, &other}) {
      if (each->members_.integer("fBits", 0) & kIsAverageBit) return refuse("its contents are averages");
      if (has_fill_buffer(each->members_, "", dimensions_) || !each->has_limits())
        return refuse("it has fills that are not in its bins");
    }
    for (std::size_t i = 0; i < dimensions_; ++i) {
      if (!is_same_axis(other, std::string(kSummedAxes[i]))) return refuse("its axes are others");
    }
    const StoredNumbers& mine = *members_.numbers("fArray");
    const StoredNumbers& others = *other.members_.numbers("fArray");
    if (mine.dtype != others.dtype || mine.count() != others.count() || mine.packing || others.packing)
      return refuse("its contents are of another type");
    return {};
  }

  // Without them, an axis has yet to get its range from the fills in the buffer.
  bool has_limits() const {
    return std::ranges::all_of(std::span(kSummedAxes).first(dimensions_), [&](std::string_view axis) {
      return number(std::string(axis) + ".fXmin") < number(std::string(axis) + ".fXmax");
    });
  }

  bool is_same_axis(const HistogramSum& other, const std::string& axis) const {
    for (const char* const each : {".fNbins", ".fXmin", ".fXmax"}) {
      if (number(axis + each) != other.number(axis + each)) return false;
    }
    const std::string labels = axis + ".fLabels.arr";
    const std::size_t count = members_.item_count(labels);
    if (members_.doubles(axis + ".fXbins") != other.members_.doubles(axis + ".fXbins") ||
        count != other.members_.item_count(labels))
      return false;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string label = labels + "." + std::to_string(i);
      const bool is_same = members_.text(label + ".fString") == other.members_.text(label + ".fString") &&
                           number(label + ".fUniqueID") == other.number(label + ".fUniqueID");
      if (!is_same) return false;
    }
    return true;
  }

  // As soon as one of them has squares of weights, the sum has.
  Result<> keep_squares(const HistogramSum& other) {
    const char* const squares = is_profile_ ? "fBinSumw2" : "fSumw2";
    if (!other.has(squares) || has(squares)) return {};
    const StoredNumbers* const place = members_.numbers(squares);
    if (place == nullptr || place->bytes.data() == nullptr)
      return fail(ErrorKind::unsupported, "it has no place for squares of weights");
    const auto begin = static_cast<std::size_t>(place->bytes.data() - payload_.data());
    const std::vector<double> values = squares_or_else(squares);
    std::vector<std::byte> stored(values.size() * sizeof(double));
    for (std::size_t i = 0; i < values.size(); ++i) store_big(stored.data() + i * sizeof(double), values[i]);
    TRY(payload_, insert_in_payload(*infos_, class_name_, payload_, keylen_, begin, stored));
    store_big(payload_.data() + begin - sizeof(std::int32_t), static_cast<std::int32_t>(values.size()));
    return read();
  }

  // The squares of weights of each bin; where all weights are 1, they are the contents, or the entries of a profile.
  std::vector<double> squares_or_else(std::string_view name) const {
    if (has(name)) return members_.doubles(name);
    std::vector<double> values = members_.doubles(is_profile_ ? "fBinEntries" : "fArray");
    for (double& value : values) value = std::abs(value);
    return values;
  }

  void add_squares(const HistogramSum& other) {
    const char* const squares = is_profile_ ? "fBinSumw2" : "fSumw2";
    if (has(squares)) add_doubles(squares, other.squares_or_else(squares));
    if (!is_profile_) return;
    add_doubles("fSumw2", other.members_.doubles("fSumw2"));
    add_doubles("fBinEntries", other.members_.doubles("fBinEntries"));
  }

  void add_doubles(std::string_view name, std::span<const double> values) {
    const std::span<std::byte> to = numbers(name);
    for (std::size_t i = 0; i < std::min(values.size(), to.size() / sizeof(double)); ++i) {
      std::byte* const at = to.data() + i * sizeof(double);
      store_big(at, load_big<double>(at) + values[i]);
    }
  }

  void add_number(const HistogramSum& other, std::string_view name) {
    const double value = other.number(name);
    add_doubles(name, std::span(&value, 1));
  }

  void add_contents(const HistogramSum& other) {
    std::byte* const to = numbers("fArray").data();
    const StoredNumbers& from = *other.members_.numbers("fArray");
    switch (from.dtype) {
      case Dtype::i1:
        return add_numbers<std::int8_t>(to, from.bytes);
      case Dtype::i2:
        return add_numbers<std::int16_t>(to, from.bytes);
      case Dtype::i4:
        return add_numbers<std::int32_t>(to, from.bytes);
      case Dtype::i8:
        return add_numbers<std::int64_t>(to, from.bytes);
      case Dtype::f4:
        return add_numbers<float>(to, from.bytes);
      default:
        return add_numbers<double>(to, from.bytes);
    }
  }

  const std::shared_ptr<const StreamerInfos> infos_;
  const std::string class_name_;
  std::vector<std::byte> payload_;
  const std::uint32_t keylen_;
  ObjectMembers members_;  // views into the payload
  std::size_t dimensions_ = 0;
  bool is_profile_ = false;
};

}  // namespace

bool is_stored_histogram(std::string_view class_name) {
  if (class_name == "TProfile" || class_name == "TProfile2D" || class_name == "TProfile3D") return true;
  return class_name.size() == kNameSize && class_name.starts_with("TH") &&
         kDimensions.find(class_name[2]) != std::string_view::npos &&
         kContents.find(class_name[3]) != std::string_view::npos;
}

Result<std::unique_ptr<StoredHistogram>> open_stored_histogram(std::shared_ptr<const StreamerInfos> infos,
                                                               std::string class_name, std::vector<std::byte> payload,
                                                               std::uint32_t keylen) {
  if (!is_stored_histogram(class_name)) return fail(ErrorKind::unsupported, "no histogram that can be added to");
  auto histogram = std::make_unique<HistogramSum>(std::move(infos), std::move(class_name), std::move(payload), keylen);
  TRY_VOID(histogram->open());
  return histogram;
}

}  // namespace tfile
