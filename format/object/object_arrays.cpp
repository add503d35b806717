// SPDX-License-Identifier: Apache-2.0
#include "object/object_arrays.h"

#include <algorithm>
#include <utility>

#include "object/graph_numbers.h"
#include "object/histogram.h"
#include "streamer/walk/object_reader.h"

namespace tfile {
namespace {

// The columns of a graph, by the members of all graph classes (TGraph, TGraphErrors, TGraphAsymmErrors,
// TGraphBentErrors, TGraph2D and derived classes).
constexpr std::pair<std::string_view, std::string_view> kGraphMembers[] = {
    {"fX", "x"},           {"fY", "y"},
    {"fZ", "z"},           {"fEX", "ex"},
    {"fEY", "ey"},         {"fEZ", "ez"},
    {"fEXlow", "exlow"},   {"fEXhigh", "exhigh"},
    {"fEYlow", "eylow"},   {"fEYhigh", "eyhigh"},
    {"fEZlow", "ezlow"},   {"fEZhigh", "ezhigh"},
    {"fEXlowd", "exlowd"}, {"fEXhighd", "exhighd"},
    {"fEYlowd", "eylowd"}, {"fEYhighd", "eyhighd"},
    {"fExL", "exlow"},     {"fExH", "exhigh"}};

std::vector<ObjectArray> graph_arrays(const ObjectMembers& members) {
  std::vector<ObjectArray> arrays;
  for (const auto& [member, name] : kGraphMembers) {
    const StoredNumbers* numbers = members.numbers(member);
    if (!numbers || (numbers->count() == 0 && member != "fX" && member != "fY")) continue;
    ObjectArray array;
    array.path = name;
    array.length = numbers->count();
    array.working = array.length * sizeof(double);
    array.fill = [&members, path = member](std::byte* to) { store_doubles(members.doubles(path), to); };
    arrays.push_back(std::move(array));
  }
  // TGraphMultiErrors: one list of arrays per side.
  for (const auto& [member, name] : {std::pair("fEyL", "eylow"), std::pair("fEyH", "eyhigh")}) {
    for (std::size_t i = 0; i < std::min(members.item_count(member), kErrorsMax); ++i) {
      const std::string path = std::string(member) + "." + std::to_string(i);
      const StoredNumbers* numbers = members.numbers(path);
      if (!numbers) continue;
      ObjectArray array;
      array.path = name + std::to_string(i);
      array.length = numbers->count();
      array.working = array.length * sizeof(double);
      array.is_drawn_apart = true;
      array.fill = [&members, path](std::byte* to) { store_doubles(members.doubles(path), to); };
      arrays.push_back(std::move(array));
    }
  }
  return arrays;
}

Result<std::vector<ObjectArray>> efficiency_arrays(const StreamerInfos& infos, const ObjectMembers& members) {
  std::vector<ObjectArray> arrays;
  for (const auto& [member, name] :
       {std::pair("fPassedHistogram", "passed/"), std::pair("fTotalHistogram", "total/")}) {
    const ObjectKind kind = kind_of_object(infos, members.class_name(member));
    if (kind.family != ObjectFamily::histogram) continue;
    TRY(auto part, histogram_arrays(members, std::string(member) + ".", kind.dimensions, false));
    for (ObjectArray& array : part) {
      array.path = name + array.path;
      arrays.push_back(std::move(array));
    }
  }
  return arrays;
}

}  // namespace

std::uint64_t ObjectArray::size() const {
  std::uint64_t bytes = length * size_of(dtype);
  for (const std::uint32_t n : shape) bytes *= n;
  return bytes;
}

ObjectKind kind_of_object(const StreamerInfos& infos, std::string_view class_name) {
  static constexpr std::pair<std::string_view, ObjectKind> kKinds[] = {
      {"TProfile", {ObjectFamily::profile, 1}},   {"TProfile2D", {ObjectFamily::profile, 2}},
      {"TProfile3D", {ObjectFamily::profile, 3}}, {"TH2Poly", {ObjectFamily::other, 0}},
      {"TH3", {ObjectFamily::histogram, 3}},      {"TH2", {ObjectFamily::histogram, 2}},
      {"TH1", {ObjectFamily::histogram, 1}},      {"THnSparse", {ObjectFamily::sparse, 0}},
      {"THn", {ObjectFamily::dense, 0}},          {"TEfficiency", {ObjectFamily::efficiency, 0}},
      {"TGraph", {ObjectFamily::graph, 0}},       {"TGraph2D", {ObjectFamily::graph, 0}}};
  for (const auto& [base, kind] : kKinds) {
    if (derives_from(infos, class_name, base)) return kind;
  }
  return {};
}

Result<std::vector<ObjectArray>> object_arrays(const ObjectKind& kind, const StreamerInfos& infos,
                                               const ObjectMembers& members) {
  switch (kind.family) {
    case ObjectFamily::histogram:
    case ObjectFamily::profile:
      return histogram_arrays(members, "", kind.dimensions, kind.family == ObjectFamily::profile);
    case ObjectFamily::dense:
      return dense_arrays(members);
    case ObjectFamily::sparse:
      return sparse_arrays(members);
    case ObjectFamily::efficiency:
      return efficiency_arrays(infos, members);
    case ObjectFamily::graph:
      return graph_arrays(members);
    case ObjectFamily::other:
      break;
  }
  return std::vector<ObjectArray>();
}

}  // namespace tfile
