// SPDX-License-Identifier: Apache-2.0
#include "object/histogram_sum.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "bytes/endian.h"
#include "object/fill_buffer.h"
#include "object/object_arrays.h"
#include "object/object_members.h"

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

// A histogram in the payload of an object.
class HistogramPart {
 public:
  static Result<HistogramPart> at(const SummedPayload& whole, const std::string& path) {
    HistogramPart made;
    made.path_ = path;
    made.class_name_ = whole.class_at(path);
    made.members_ = whole.members.at(path);
    const ObjectKind kind = kind_of_object(*whole.infos, made.class_name_);
    made.dimensions_ = kind.dimensions;
    made.is_profile_ = kind.family == ObjectFamily::profile;
    if (!made.is_profile_ && kind.family != ObjectFamily::histogram)
      return fail(ErrorKind::unsupported, "not a histogram");
    TRY_VOID(made.check_arrays());
    return made;
  }

  Result<> add(SummedPayload& whole, const HistogramPart& other) {
    TRY_VOID(check(other));
    TRY_VOID(keep_squares(whole, other));
    if (other.is_empty()) return {};
    const bool has_moments = keeps_moments() && other.keeps_moments();
    add_squares(whole, other);
    add_stored(whole.bytes_of(members_, "fArray"), *other.members_.numbers("fArray"));
    add_number(whole, other, "fEntries");
    for (const std::string_view moment : kMoments) {
      if (has_moments) {
        add_number(whole, other, moment);
      } else {
        whole.set_double(members_, moment, 0);
      }
    }
    return {};
  }

 private:
  Result<> check_arrays() const {
    TRY_VOID(histogram_bins(members_, "", dimensions_));
    for (const std::string_view name : {"fSumw2", "fBinEntries", "fBinSumw2"}) {
      const std::size_t count = members_.doubles(name).size();
      if (count != 0 && count != cells())
        return fail(ErrorKind::damaged, std::string(name) + ": has " + std::to_string(count) + " numbers, expected " +
                                            std::to_string(cells()));
    }
    if (is_profile_ && !(has("fSumw2") && has("fBinEntries")))
      return fail(ErrorKind::damaged, "profile: " + std::to_string(members_.doubles("fSumw2").size()) + " fSumw2 and " +
                                          std::to_string(members_.doubles("fBinEntries").size()) + " fBinEntries for " +
                                          std::to_string(cells()) + " bins");
    return {};
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

  Result<> check(const HistogramPart& other) const {
    const auto refuse = [](const char* why) { return fail(ErrorKind::unsupported, why); };
    if (class_name_ != other.class_name_) return refuse("its class differs");
    for (const HistogramPart* each : {this, &other}) {
      if (each->members_.integer("fBits", 0) & kIsAverageBit) return refuse("its contents are averages");
      if (has_fill_buffer(each->members_, "", dimensions_) || !each->has_limits())
        return refuse("it has buffered fills that are not in its bins");
    }
    for (std::size_t i = 0; i < dimensions_; ++i) {
      if (!is_same_axis(members_, other.members_, std::string(kSummedAxes[i]))) return refuse("its axes differ");
    }
    const StoredNumbers& mine = *members_.numbers("fArray");
    const StoredNumbers& others = *other.members_.numbers("fArray");
    if (mine.dtype != others.dtype || mine.count() != others.count() || mine.packing || others.packing)
      return refuse("its contents are of a different type");
    return {};
  }

  // Without them, an axis has yet to get its range from the fills in the buffer.
  bool has_limits() const {
    return std::ranges::all_of(std::span(kSummedAxes).first(dimensions_), [&](std::string_view axis) {
      return number(std::string(axis) + ".fXmin") < number(std::string(axis) + ".fXmax");
    });
  }

  // As soon as one of them has squares of weights, the sum has.
  Result<> keep_squares(SummedPayload& whole, const HistogramPart& other) {
    const char* const squares = is_profile_ ? "fBinSumw2" : "fSumw2";
    if (!other.has(squares) || has(squares)) return {};
    const StoredNumbers* const place = members_.numbers(squares);
    if (place == nullptr || place->bytes.data() == nullptr)
      return fail(ErrorKind::unsupported, "it cannot store squares of weights");
    const std::vector<double> values = squares_or_else(squares);
    std::vector<std::byte> stored(sizeof(std::int32_t) + values.size() * sizeof(double));
    store_big(stored.data(), static_cast<std::int32_t>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i)
      store_big(stored.data() + sizeof(std::int32_t) + i * sizeof(double), values[i]);
    const std::size_t count_at = whole.position_of(place->bytes) - sizeof(std::int32_t);
    PayloadChanges changes(whole);
    changes.replace(std::span(whole.payload).subspan(count_at, sizeof(std::int32_t)), std::move(stored));
    TRY_VOID(changes.apply());
    members_ = whole.members.at(path_);
    return {};
  }

  // The squares of weights of each bin; where all weights are 1, they are the contents, or the entries of a profile.
  std::vector<double> squares_or_else(std::string_view name) const {
    if (has(name)) return members_.doubles(name);
    std::vector<double> values = members_.doubles(is_profile_ ? "fBinEntries" : "fArray");
    for (double& value : values) value = std::abs(value);
    return values;
  }

  void add_squares(SummedPayload& whole, const HistogramPart& other) const {
    const char* const squares = is_profile_ ? "fBinSumw2" : "fSumw2";
    if (has(squares)) whole.add_doubles(members_, squares, other.squares_or_else(squares));
    if (!is_profile_) return;
    whole.add_doubles(members_, "fSumw2", other.members_.doubles("fSumw2"));
    whole.add_doubles(members_, "fBinEntries", other.members_.doubles("fBinEntries"));
  }

  void add_number(SummedPayload& whole, const HistogramPart& other, std::string_view name) const {
    const double value = other.number(name);
    whole.add_doubles(members_, name, std::span(&value, 1));
  }

  std::string path_, class_name_;
  ObjectMembers members_;  // of the histogram: views into the payload
  std::size_t dimensions_ = 0;
  bool is_profile_ = false;
};

}  // namespace

bool is_same_axis(const ObjectMembers& a, const ObjectMembers& b, const std::string& axis) {
  for (const char* const each : {".fNbins", ".fXmin", ".fXmax"}) {
    if (a.number(axis + each) != b.number(axis + each)) return false;
  }
  const std::string labels = axis + ".fLabels.arr";
  const std::size_t count = a.item_count(labels);
  if (a.doubles(axis + ".fXbins") != b.doubles(axis + ".fXbins") || count != b.item_count(labels)) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string label = labels + "." + std::to_string(i);
    const bool is_same = a.text(label + ".fString") == b.text(label + ".fString") &&
                         a.number(label + ".fUniqueID") == b.number(label + ".fUniqueID");
    if (!is_same) return false;
  }
  return true;
}

bool is_summed_histogram(std::string_view class_name) {
  if (class_name == "TProfile" || class_name == "TProfile2D" || class_name == "TProfile3D") return true;
  return class_name.size() == kNameSize && class_name.starts_with("TH") &&
         kDimensions.find(class_name[2]) != std::string_view::npos &&
         kContents.find(class_name[3]) != std::string_view::npos;
}

Result<> add_histogram(SummedPayload& to, const std::string& path, const SummedPayload& from) {
  TRY(HistogramPart histogram, HistogramPart::at(to, path));
  TRY(const HistogramPart other, HistogramPart::at(from, path));
  return histogram.add(to, other);
}

}  // namespace tfile
