// SPDX-License-Identifier: Apache-2.0
#include "object/object_sum.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <type_traits>

#include "bytes/endian.h"
#include "object/graph_sum.h"
#include "object/histogram_sum.h"
#include "streamer/walk/object_reader.h"

namespace tfile {
namespace {

// Lists in lists end here.
constexpr int kListDepthMax = 16;

// TParameter<T>, in fBits.
constexpr std::uint32_t kMultiplied = 1 << 16, kMaximum = 1 << 17, kMinimum = 1 << 18, kFirstOne = 1 << 19,
                        kLastOne = 1 << 20, kIsConstant = 1 << 21;

constexpr std::string_view kSequences[] = {"TList", "THashList", "TObjArray"};

// How objects of a class are added.
enum class SumKind { none, histogram, efficiency, polygons, dense, parameter, graph, items };

SumKind sum_kind(const StreamerInfos& infos, std::string_view class_name) {
  if (is_summed_histogram(class_name)) return SumKind::histogram;
  if (class_name == "TEfficiency") return SumKind::efficiency;
  if (class_name == "TH2Poly") return SumKind::polygons;
  if (class_name.starts_with("TParameter<")) return SumKind::parameter;
  if (is_summed_graph(class_name)) return SumKind::graph;
  if (std::ranges::find(kSequences, class_name) != std::end(kSequences)) return SumKind::items;
  return derives_from(infos, class_name, "THn") ? SumKind::dense : SumKind::none;
}

// Other classes that hadd adds, and their heirs.
constexpr std::string_view kAddedByRoot[] = {
    "TH1",           "THnBase",       "TGraph",          "THStack",         "TEntryList",
    "TEventList",    "TStatistic",    "TPolyLine",       "TPolyLine3D",     "TPolyMarker",
    "TPolyMarker3D", "TLinearFitter", "TSelectorScalar", "TFileCollection", "TSeqCollection"};

bool is_added_by_root(const StreamerInfos& infos, std::string_view class_name) {
  return std::ranges::any_of(kAddedByRoot,
                             [&](std::string_view base) { return derives_from(infos, class_name, base); });
}

// Whether there is nothing at a path that hadd would add.
bool has_nothing_to_add(const SummedPayload& object, const std::string& path, int depth) {
  const std::string_view class_name = object.class_at(path);
  if (class_name.empty() || depth > kListDepthMax) return false;
  const SumKind kind = sum_kind(*object.infos, class_name);
  if (kind != SumKind::items) return kind == SumKind::none && !is_added_by_root(*object.infos, class_name);
  const std::string items = path.empty() ? "arr" : path + ".arr";
  for (std::size_t i = 0; i < object.members.item_count(items); ++i) {
    if (!has_nothing_to_add(object, items + "." + std::to_string(i), depth + 1)) return false;
  }
  return true;
}

tl::unexpected<Error> not_added(const std::string& why) { return fail(ErrorKind::unsupported, why); }

// Two values of a parameter, by the mode of the first.
template <class T>
T merged_value(T a, T b, std::uint32_t mode) {
  if (mode & kMultiplied) return static_cast<T>(a * b);
  if (mode & kMaximum) return std::max(a, b);
  if (mode & kMinimum) return std::min(a, b);
  if (mode & kLastOne) return b;
  return (mode & kFirstOne) ? a : static_cast<T>(a + b);
}

bool merged_truth(bool a, bool b, std::uint32_t mode) {
  if (mode & (kMultiplied | kMinimum)) return a && b;
  if (mode & kLastOne) return b;
  return (mode & kFirstOne) && !(mode & kMaximum) ? a : a || b;
}

// Of integers, sums and products are those of the unsigned type: they wrap around, as those of ROOT do.
template <class Stored, class Computed = Stored>
void merge_value(std::byte* to, const std::byte* from, std::uint32_t mode) {
  const auto a = load_big<Stored>(to), b = load_big<Stored>(from);
  if constexpr (std::is_same_v<Stored, Computed>) {
    store_big(to, merged_value(a, b, mode));
  } else {
    const bool is_computed = !(mode & (kMaximum | kMinimum | kLastOne | kFirstOne));
    store_big(to, is_computed
                      ? static_cast<Stored>(merged_value(static_cast<Computed>(a), static_cast<Computed>(b), mode))
                      : merged_value(a, b, mode));
  }
}

class ObjectSum {
 public:
  ObjectSum(SummedPayload& to, const SummedPayload& from) : to_(to), from_(from) {}

  Result<> add(const std::string& path, int depth = 0) {
    const std::string class_name(to_.class_at(path));
    if (class_name.empty() || class_name != from_.class_at(path)) return not_added("its class is another");
    switch (sum_kind(*to_.infos, class_name)) {
      case SumKind::histogram:
        return add_histogram(to_, path, from_);
      case SumKind::efficiency:
        return add_efficiency(path);
      case SumKind::polygons:
        return add_polygons(path);
      case SumKind::dense:
        return add_dense(path);
      case SumKind::parameter:
        return add_parameter(path, class_name);
      case SumKind::graph:
        return add_graph(to_, path, from_);
      case SumKind::items:
        return add_items(path, depth);
      case SumKind::none:
        break;
    }
    return not_added("objects of class " + class_name + " are not added up");
  }

 private:
  ObjectMembers to(const std::string& path) const { return to_.members.at(path); }
  ObjectMembers from(const std::string& path) const { return from_.members.at(path); }
  static std::string below(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
  }

  // As TEfficiency::Add: its weight is taken to be that of a mean of both.
  Result<> add_efficiency(const std::string& path) {
    for (const char* const histogram : {"fPassedHistogram", "fTotalHistogram"}) {
      const std::string part = below(path, histogram);
      if (!is_summed_histogram(to_.class_at(part)) || to_.class_at(part) != from_.class_at(part))
        return not_added("its histograms are of other classes");
      TRY_VOID(add_histogram(to_, part, from_));
    }
    const double mine = to(path).number("fWeight").value_or(1), others = from(path).number("fWeight").value_or(1);
    to_.set_double(to(path), "fWeight", mine * others / (mine + others));
    return {};
  }

  // Items belong together by their number, as TSeqCollection::Merge takes them; their names must agree.
  Result<> add_items(const std::string& path, int depth) {
    const std::string items = below(path, "arr");
    const std::size_t count = to_.members.item_count(items);
    if (count != from_.members.item_count(items)) return not_added("it has another number of objects");
    if (depth > kListDepthMax) return not_added("its lists are too deep");
    for (std::size_t i = 0; i < count; ++i) {
      const std::string item = below(items, std::to_string(i));
      const std::string name(to(item).text("fName"));
      if (name != from(item).text("fName")) return not_added("its objects have other names");
      if (auto done = add(item, depth + 1); !done) {
        done.error().text.insert(0, name + ": ");
        return done;
      }
    }
    return {};
  }

  Result<> add_parameter(const std::string& path, const std::string& class_name) {
    const std::span<std::byte> value = to_.bytes_of(to(path), "fVal"), bits = to_.bytes_of(to(path), "fBits");
    const ObjectMembers others = from(path);
    const StoredNumbers* const other = others.numbers("fVal");
    if (other == nullptr || value.size() != other->bytes.size() || bits.size() != sizeof(std::uint32_t) ||
        other->packing != nullptr)
      return fail(ErrorKind::damaged, class_name + ": without its value");
    const auto mode = load_big<std::uint32_t>(bits.data());
    if (!std::ranges::equal(value, other->bytes)) store_big(bits.data(), mode & ~kIsConstant);
    std::byte* const at = value.data();
    const std::byte* const given = other->bytes.data();
    switch (other->dtype) {
      case Dtype::b1:
        *at = std::byte{merged_truth(*at != std::byte{0}, *given != std::byte{0}, mode)};
        return {};
      case Dtype::i4:
        return merge_value<std::int32_t, std::uint32_t>(at, given, mode), Result<>();
      case Dtype::i8:
        return merge_value<std::int64_t, std::uint64_t>(at, given, mode), Result<>();
      case Dtype::u4:
        return merge_value<std::uint32_t>(at, given, mode), Result<>();
      case Dtype::u8:
        return merge_value<std::uint64_t>(at, given, mode), Result<>();
      case Dtype::f4:
        return merge_value<float>(at, given, mode), Result<>();
      case Dtype::f8:
        return merge_value<double>(at, given, mode), Result<>();
      default:
        return not_added("parameters of this type are not added up");
    }
  }

  // Numbers of the same type, as many of both; `name` may be missing in both.
  Result<> add_numbers(const std::string& path, const char* name) {
    const ObjectMembers others = from(path);
    const StoredNumbers* const other = others.numbers(name);
    const ObjectMembers own = to(path);
    const StoredNumbers* const mine = own.numbers(name);
    const std::size_t count = mine ? mine->count() : 0, other_count = other ? other->count() : 0;
    if (count != other_count) return not_added(std::string(name) + ": one has it, the other has not");
    if (count == 0) return {};
    if (mine->dtype != other->dtype || mine->packing || other->packing)
      return not_added("its contents are of another type");
    add_stored(to_.bytes_of(own, name), *other);
    return {};
  }

  Result<> add_all(const std::string& path, std::span<const char* const> names) {
    for (const char* const name : names) TRY_VOID(add_numbers(path, name));
    return {};
  }

  // THn<T>: any number of axes, a content for each cell.
  Result<> add_dense(const std::string& path) {
    const ObjectMembers mine = to(path), others = from(path);
    const std::int64_t dimensions = mine.integer("fNdimensions", 0);
    if (dimensions != others.integer("fNdimensions", 0)) return not_added("its axes are others");
    for (std::int64_t i = 0; i < dimensions; ++i) {
      if (!is_same_axis(mine, others, "fAxes.arr." + std::to_string(i))) return not_added("its axes are others");
    }
    const double squares = mine.number("fTsumw2").value_or(-1), other_squares = others.number("fTsumw2").value_or(-1);
    if ((squares < 0) != (other_squares < 0)) return not_added("only one of both has squares of weights");
    constexpr std::array kSums{"fArray.fData", "fEntries"};
    TRY_VOID(add_all(path, kSums));
    constexpr std::array kWithSquares{"fSumw2.fData", "fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2"};
    return squares < 0 ? Result<>() : add_all(path, kWithSquares);
  }

  // TH2Poly: bins are polygons in a list.
  Result<> add_polygons(const std::string& path) {
    const std::string bins = below(path, "fBins.arr");
    const std::size_t count = to_.members.item_count(bins);
    if (count != from_.members.item_count(bins)) return not_added("its bins are others");
    for (std::size_t i = 0; i < count; ++i) {
      const std::string bin = below(bins, std::to_string(i));
      for (const char* const edge : {"fXmin", "fXmax", "fYmin", "fYmax", "fNumber"}) {
        if (to(bin).number(edge) != from(bin).number(edge)) return not_added("its bins are others");
      }
      TRY_VOID(add_numbers(bin, "fContent"));
    }
    constexpr std::array kSums{"fOverflow", "fSumw2",   "fEntries", "fTsumw",   "fTsumw2",
                               "fTsumwx",   "fTsumwx2", "fTsumwy",  "fTsumwy2", "fTsumwxy"};
    return add_all(path, kSums);
  }

  SummedPayload& to_;
  const SummedPayload& from_;
};

}  // namespace

bool is_summed(const StreamerInfos& infos, std::string_view class_name) {
  return sum_kind(infos, class_name) != SumKind::none;
}

bool has_summed_parts(const StreamerInfos& infos, std::string_view class_name) {
  const SumKind kind = sum_kind(infos, class_name);
  return kind == SumKind::efficiency || kind == SumKind::polygons || kind == SumKind::dense || kind == SumKind::items;
}

bool stands_for_equals(const SummedPayload& object) { return has_nothing_to_add(object, "", 0); }

Result<> add_object(SummedPayload& to, const SummedPayload& from) { return ObjectSum(to, from).add(""); }

}  // namespace tfile
