// SPDX-License-Identifier: Apache-2.0
#include "object/graph_sum.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tfile {
namespace {

constexpr std::string_view kGraphs[] = {"TGraph", "TGraphErrors", "TGraphAsymmErrors", "TGraphBentErrors",
                                        "TGraphPolar"};

// One number for each point. Not all of them are in every class.
constexpr std::string_view kOfPoints[] = {"fX",      "fY",      "fEX",      "fEY",     "fEXlow",   "fEXhigh", "fEYlow",
                                          "fEYhigh", "fEXlowd", "fEXhighd", "fEYlowd", "fEYhighd", "fXpol",   "fYpol"};

class GraphSum {
 public:
  GraphSum(SummedPayload& to, const std::string& path, const SummedPayload& from)
      : to_(to), path_(path), own_(to.members.at(path)), others_(from.members.at(path)), changes_(to) {}

  Result<> run() {
    points_ = own_.integer("fNpoints", -1);
    added_ = others_.integer("fNpoints", -1);
    const StoredNumbers* const length = own_.numbers("fNpoints");
    if (points_ < 0 || added_ < 0 || length->bytes.size() != sizeof(std::int32_t))
      return fail(ErrorKind::damaged,
                  "graph: fNpoints is " + std::to_string(points_) + ", to be added " + std::to_string(added_));
    if (added_ == 0) return {};
    if (added_ > std::numeric_limits<std::int32_t>::max() - points_)
      return fail(ErrorKind::unsupported, "too many points");
    changes_.set_i4(length->bytes, static_cast<std::int32_t>(points_ + added_));
    for (const std::string_view name : kOfPoints) TRY_VOID(append(name));
    TRY_VOID(changes_.apply());
    const StoredNumbers* const all = to_.members.at(path_).numbers("fX");
    if (all == nullptr || static_cast<std::int64_t>(all->count()) != points_ + added_)
      return fail(ErrorKind::unsupported, "its points cannot be located");
    return {};
  }

 private:
  Result<> append(std::string_view name) {
    const StoredNumbers* const mine = own_.numbers(name);
    const StoredNumbers* const other = others_.numbers(name);
    if ((mine == nullptr) != (other == nullptr)) return fail(ErrorKind::unsupported, "its members differ");
    if (mine == nullptr) return {};
    const bool has_none = mine->count() == 0 && other->count() == 0;  // what is computed where a graph is drawn
    if (has_none && points_ > 0) return {};
    const bool is_one_each = static_cast<std::int64_t>(mine->count()) == points_ &&
                             static_cast<std::int64_t>(other->count()) == added_ && mine->dtype == Dtype::f8 &&
                             other->dtype == Dtype::f8 && mine->packing == nullptr && other->packing == nullptr;
    if (!is_one_each)
      return fail(ErrorKind::damaged, "graph: " + std::string(name) + " has " + std::to_string(mine->count()) +
                                          " and " + std::to_string(other->count()) +
                                          " numbers, expected one per point, " + std::to_string(points_) + " and " +
                                          std::to_string(added_));
    if (points_ > 0) {
      changes_.append(mine->bytes, other->bytes);
      return {};
    }
    // A graph without points has only the flag that says so.
    std::vector<std::byte> bytes{std::byte{1}};
    bytes.insert(bytes.end(), other->bytes.begin(), other->bytes.end());
    const std::size_t flag = to_.position_of(mine->bytes) - 1;
    changes_.replace(std::span(to_.payload).subspan(flag, 1), std::move(bytes));
    return {};
  }

  SummedPayload& to_;
  const std::string path_;
  const ObjectMembers own_, others_;
  PayloadChanges changes_;
  std::int64_t points_ = 0, added_ = 0;
};

}  // namespace

bool is_summed_graph(std::string_view class_name) {
  return std::ranges::find(kGraphs, class_name) != std::end(kGraphs);
}

Result<> add_graph(SummedPayload& to, const std::string& path, const SummedPayload& from) {
  return GraphSum(to, path, from).run();
}

}  // namespace tfile
