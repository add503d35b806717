// SPDX-License-Identifier: Apache-2.0
#include "object/object_sum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/endian.h"
#include "object/graph_sum.h"
#include "object/histogram_sum.h"
#include "object/sparse_sum.h"
#include "object/value_sum.h"
#include "streamer/walk/object_reader.h"

namespace tfile {
namespace {

// Lists in lists end here.
constexpr int kListDepthMax = 16;

constexpr std::string_view kSequences[] = {"TList", "THashList", "TObjArray", "TOrdCollection", "TSortedList"};

// ROOT's own classes that have no Merge(TCollection*), which is what that of lists calls. In a list, those of all files
// follow each other. Of other classes nobody knows whether they have one.
constexpr std::string_view kNotMerged[] = {"TObjString", "TNamed",     "TObject",     "TF1",    "TF2",     "TF3",
                                           "TFormula",   "TGraph2D",   "TMultiGraph", "TAxis",  "TCanvas", "TPaveText",
                                           "TMap",       "TLine",      "TText",       "TLatex", "TLegend", "TMacro",
                                           "TBox",       "TPave",      "TPair",       "TUrl",   "TBits",   "THStack",
                                           "TArrow",     "TPaveStats", "TEllipse",    "TMarker"};
constexpr std::string_view kNotMergedTemplates[] = {"TVectorT<", "TMatrixT<", "TMatrixTSym<"};

// How objects of a class are added.
enum class SumKind {
  none,
  histogram,
  efficiency,
  polygons,
  dense,
  sparse,
  parameter,
  scalar,
  statistic,
  event_list,
  graph,
  stack,
  items
};

constexpr std::pair<std::string_view, SumKind> kSumKinds[] = {
    {"TEfficiency", SumKind::efficiency}, {"TH2Poly", SumKind::polygons},     {"TProfile2Poly", SumKind::polygons},
    {"TSelectorScalar", SumKind::scalar}, {"TStatistic", SumKind::statistic}, {"TEventList", SumKind::event_list},
    {"THStack", SumKind::stack}};

SumKind sum_kind(const StreamerInfos& infos, std::string_view class_name) {
  if (is_summed_histogram(class_name)) return SumKind::histogram;
  const auto* const known = std::ranges::find(kSumKinds, class_name, &std::pair<std::string_view, SumKind>::first);
  if (known != std::end(kSumKinds)) return known->second;
  if (class_name.starts_with("TParameter<")) return SumKind::parameter;
  if (is_summed_graph(class_name)) return SumKind::graph;
  if (std::ranges::find(kSequences, class_name) != std::end(kSequences)) return SumKind::items;
  if (derives_from(infos, class_name, "THnSparse")) return SumKind::sparse;
  return derives_from(infos, class_name, "THn") ? SumKind::dense : SumKind::none;
}

// Other classes that hadd adds, and their heirs.
constexpr std::string_view kAddedByRoot[] = {
    "TH1",           "THnBase",       "TGraph",          "THStack",         "TEntryList",
    "TEventList",    "TStatistic",    "TPolyLine",       "TPolyLine3D",     "TPolyMarker",
    "TPolyMarker3D", "TLinearFitter", "TSelectorScalar", "TFileCollection", "TSeqCollection"};

// A TCutG is a region. With the points of another behind its own it would be no region, or none at all: equal ones
// stay.
bool is_added_by_root(const StreamerInfos& infos, std::string_view class_name) {
  return class_name != "TCutG" && std::ranges::any_of(kAddedByRoot, [&](std::string_view base) {
           return derives_from(infos, class_name, base);
         });
}

bool has_no_merge(std::string_view class_name) {
  return std::ranges::find(kNotMerged, class_name) != std::end(kNotMerged) ||
         std::ranges::any_of(kNotMergedTemplates, [&](std::string_view name) { return class_name.starts_with(name); });
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

class ObjectSum {
 public:
  ObjectSum(SummedPayload& to, const SummedPayload& from) : to_(to), from_(from) {}

  Result<> add(const std::string& path, int depth = 0);

 private:
  ObjectMembers to(const std::string& path) const { return to_.members.at(path); }
  ObjectMembers from(const std::string& path) const { return from_.members.at(path); }
  static std::string below(const std::string& path, const std::string& name);

  // As TEfficiency::Add: its weight is taken to be that of a mean of both.
  Result<> add_efficiency(const std::string& path);

  // Its histograms are those of a list. What was drawn with them stays.
  Result<> add_stack(const std::string& path, int depth);

  // Items belong together by their number, as TSeqCollection::Merge takes them; names of those that are added must
  // agree. Those of classes that have no Merge() follow.
  Result<> add_items(const std::string& path, int depth);

  // True: it is not added, and follows.
  Result<bool> add_item(const std::string& item, const std::string& name, int depth);
  Result<> append_items(const std::string& items, const std::vector<std::size_t>& numbers, bool is_array);

  // Whether a string follows each item of lists, which are of one class: since one version of it.
  Result<bool> have_options(const ObjectMembers::ListPlace& own, const ObjectMembers::ListPlace& others,
                            const PayloadPlaces& other_places) const;

  // THn<T>: any number of axes, a content for each cell.
  Result<> add_dense(const std::string& path);

  // TH2Poly: bins are polygons in a list. Those of a TProfile2Poly have a mean, computed of their sums.
  Result<> add_polygons(const std::string& path);
  Result<> add_mean(const std::string& bin);

  SummedPayload& to_;
  const SummedPayload& from_;
};

Result<> ObjectSum::add(const std::string& path, int depth) {
  const std::string class_name(to_.class_at(path));
  if (class_name.empty() || class_name != from_.class_at(path)) return not_added("its class differs");
  switch (sum_kind(*to_.infos, class_name)) {
    case SumKind::histogram:
      return add_histogram(to_, path, from_);
    case SumKind::efficiency:
      return add_efficiency(path);
    case SumKind::polygons:
      return add_polygons(path);
    case SumKind::dense:
      return add_dense(path);
    case SumKind::sparse:
      return add_sparse(to_, path, from_);
    case SumKind::parameter:
    case SumKind::scalar:
      return add_parameter(to_, path, from_, class_name == "TSelectorScalar");
    case SumKind::statistic:
      return add_statistic(to_, path, from_);
    case SumKind::event_list:
      return add_event_list(to_, path, from_);
    case SumKind::graph:
      return add_graph(to_, path, from_);
    case SumKind::stack:
      return add_stack(path, depth);
    case SumKind::items:
      return add_items(path, depth);
    case SumKind::none:
      break;
  }
  return not_added("objects of class " + class_name + " cannot be added");
}

std::string ObjectSum::below(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

Result<> ObjectSum::add_efficiency(const std::string& path) {
  for (const char* const histogram : {"fPassedHistogram", "fTotalHistogram"}) {
    const std::string part = below(path, histogram);
    if (!is_summed_histogram(to_.class_at(part)) || to_.class_at(part) != from_.class_at(part))
      return not_added("the classes of its histograms differ");
    TRY_VOID(add_histogram(to_, part, from_));
  }
  const double mine = to(path).number("fWeight").value_or(1), others = from(path).number("fWeight").value_or(1);
  to_.set_double(to(path), "fWeight", mine * others / (mine + others));
  return {};
}

Result<> ObjectSum::add_stack(const std::string& path, int depth) {
  const std::string list = below(path, "fHists");
  if (from_.class_at(list).empty()) return {};
  if (to_.class_at(list) != "TList" || from_.class_at(list) != "TList")
    return not_added("its histograms are not in lists");
  return add_items(list, depth);
}

Result<> ObjectSum::add_items(const std::string& path, int depth) {
  const std::string items = below(path, "arr");
  const std::size_t count = from_.members.item_count(items);
  if (count > to_.members.item_count(items)) return not_added("it has more objects");
  if (depth > kListDepthMax) return not_added("its lists are nested too deeply");
  std::vector<std::size_t> following;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string item = below(items, std::to_string(i));
    const std::string name(to(item).text("fName"));
    auto done = add_item(item, name, depth + 1);
    if (done && *done) following.push_back(i);
    if (done) continue;
    if (!name.empty()) done.error().text.insert(0, name + ": ");
    return tl::unexpected(std::move(done).error());
  }
  if (following.empty()) return {};
  if (to_.class_at(path) == "TSortedList") return not_added("its objects are sorted");
  return append_items(items, following, to_.class_at(path) != "TList" && to_.class_at(path) != "THashList");
}

Result<bool> ObjectSum::add_item(const std::string& item, const std::string& name, int depth) {
  const std::string_view class_name = to_.class_at(item);
  if (has_no_merge(class_name) && class_name == from_.class_at(item)) return true;
  if (name != from(item).text("fName")) return not_added("the names of its objects differ");
  TRY_VOID(add(item, depth));
  return false;
}

Result<> ObjectSum::append_items(const std::string& items, const std::vector<std::size_t>& numbers, bool is_array) {
  TRY(const PayloadPlaces places, from_.places());
  TRY_VOID(to_.take_descriptions(from_, places));
  const auto own = to_.members.list_place(items), others = from_.members.list_place(items);
  if (!own || !others) return not_added("it is not stored in the form that ROOT writes now");
  PayloadChange change{own->end, own->end, {}, own->count_at};
  bool has_options = false;
  if (!is_array) {
    TRY(has_options, have_options(*own, *others, places));
  }
  for (const std::size_t number : numbers) {
    const std::size_t begin = others->slots[number];
    const bool is_last = number + 1 == others->slots.size();
    std::size_t end = places.end_of_slot(begin);
    if (has_options) end = is_last ? others->end : others->slots[number + 1];
    if (end <= begin || end > others->end) return not_added("it is not stored in the form that ROOT writes now");
    change.parts.push_back({std::span(from_.payload).subspan(begin, end - begin), &places});
  }
  const auto count = std::span(to_.payload).subspan(own->count_at, sizeof(std::int32_t));
  PayloadChanges changes(to_);
  changes.set_i4(count, load_big<std::int32_t>(count.data()) + static_cast<std::int32_t>(numbers.size()));
  changes.add(std::move(change));
  return changes.apply();
}

Result<bool> ObjectSum::have_options(const ObjectMembers::ListPlace& own, const ObjectMembers::ListPlace& others,
                                     const PayloadPlaces& other_places) const {
  TRY(const PayloadPlaces own_places, to_.places());
  const bool mine = own.end > own_places.end_of_slot(own.slots.back());
  if (mine != (others.end > other_places.end_of_slot(others.slots.back())))
    return not_added("it is not stored in the form that ROOT writes now");
  return mine;
}

Result<> ObjectSum::add_dense(const std::string& path) {
  const ObjectMembers mine = to(path), others = from(path);
  const std::int64_t dimensions = mine.integer("fNdimensions", 0);
  if (dimensions != others.integer("fNdimensions", 0)) return not_added("its axes differ");
  for (std::int64_t i = 0; i < dimensions; ++i) {
    if (!is_same_axis(mine, others, "fAxes.arr." + std::to_string(i))) return not_added("its axes differ");
  }
  const double squares = mine.number("fTsumw2").value_or(-1), other_squares = others.number("fTsumw2").value_or(-1);
  if ((squares < 0) != (other_squares < 0)) return not_added("only one of the two has squares of weights");
  constexpr std::array kSums{"fArray.fData", "fEntries"};
  TRY_VOID(add_members(to_, path, from_, kSums));
  constexpr std::array kWithSquares{"fSumw2.fData", "fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2"};
  return squares < 0 ? Result<>() : add_members(to_, path, from_, kWithSquares);
}

Result<> ObjectSum::add_polygons(const std::string& path) {
  const bool is_profile = to_.class_at(path) == "TProfile2Poly";
  const std::string bins = below(path, "fBins.arr");
  const std::size_t count = to_.members.item_count(bins);
  if (count != from_.members.item_count(bins)) return not_added("its bins differ");
  constexpr std::array kContent{"fContent"};
  for (std::size_t i = 0; i < count; ++i) {
    const std::string bin = below(bins, std::to_string(i));
    for (const char* const edge : {"fXmin", "fXmax", "fYmin", "fYmax", "fNumber"}) {
      if (to(bin).number(edge) != from(bin).number(edge)) return not_added("its bins differ");
    }
    TRY_VOID(is_profile ? add_mean(bin) : add_members(to_, bin, from_, kContent));
  }
  if (is_profile) {
    const std::string beyond = below(path, "fOverflowBins");
    for (std::size_t i = 0; i < to_.members.item_count(beyond); ++i)
      TRY_VOID(add_mean(below(beyond, std::to_string(i))));
  } else {
    constexpr std::array kOfPolygons{"fOverflow", "fSumw2"};
    TRY_VOID(add_members(to_, path, from_, kOfPolygons));
  }
  constexpr std::array kSums{"fEntries", "fTsumw",   "fTsumw2",  "fTsumwx", "fTsumwx2",
                             "fTsumwy",  "fTsumwy2", "fTsumwxy", "fTsumwz", "fTsumwz2"};
  return add_members(to_, path, from_, kSums);
}

Result<> ObjectSum::add_mean(const std::string& bin) {
  constexpr std::array kSums{"fSumw", "fSumvw", "fSumw2", "fSumwv2"};
  TRY_VOID(add_members(to_, bin, from_, kSums));
  const ObjectMembers made = to(bin);
  const auto number = [&](const char* name) { return made.number(name).value_or(0); };
  const double weights = number("fSumw");
  const double mean = weights == 0 ? number("fAverage") : number("fSumvw") / weights;
  to_.set_double(made, "fAverage", mean);
  to_.set_double(made, "fContent", mean);
  to_.set_double(made, "fError", weights == 0 ? 0 : std::sqrt(number("fSumwv2") / weights - mean * mean));
  return {};
}

}  // namespace

bool is_summed(const StreamerInfos& infos, std::string_view class_name) {
  return sum_kind(infos, class_name) != SumKind::none;
}

bool has_summed_parts(const StreamerInfos& infos, std::string_view class_name) {
  const SumKind kind = sum_kind(infos, class_name);
  return kind != SumKind::none && kind != SumKind::histogram && kind != SumKind::parameter && kind != SumKind::scalar;
}

bool stands_for_equals(const SummedPayload& object) { return has_nothing_to_add(object, "", 0); }

Result<> add_object(SummedPayload& to, const SummedPayload& from) { return ObjectSum(to, from).add(""); }

}  // namespace tfile
