// SPDX-License-Identifier: Apache-2.0
#include "object/graph_sum.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "bytes/endian.h"

namespace tfile {
namespace {

constexpr std::string_view kGraphs[] = {"TGraph", "TGraphErrors", "TGraphAsymmErrors", "TGraphBentErrors"};

// One number for each point. Not all of them are in every class.
constexpr std::string_view kOfPoints[] = {"fX",     "fY",      "fEX",     "fEY",      "fEXlow",  "fEXhigh",
                                          "fEYlow", "fEYhigh", "fEXlowd", "fEXhighd", "fEYlowd", "fEYhighd"};

}  // namespace

bool is_summed_graph(std::string_view class_name) {
  return std::ranges::find(kGraphs, class_name) != std::end(kGraphs);
}

Result<> add_graph(SummedPayload& to, const std::string& path, const SummedPayload& from) {
  const ObjectMembers others = from.members.at(path);
  const std::int64_t points = to.members.integer("fNpoints", -1), added = others.integer("fNpoints", -1);
  if (!path.empty()) return fail(ErrorKind::unsupported, "graphs in other objects are not added up");
  if (points < 0 || added < 0) return fail(ErrorKind::damaged, "graph: fNpoints");
  if (added == 0) return {};
  if (points == 0) return fail(ErrorKind::unsupported, "the first graph has no points, and no place for them");
  if (added > std::numeric_limits<std::int32_t>::max() - points) return fail(ErrorKind::unsupported, "too many points");
  std::vector<Insertion> insertions;
  for (const std::string_view name : kOfPoints) {
    const StoredNumbers* const mine = to.members.numbers(name);
    const StoredNumbers* const other = others.numbers(name);
    if ((mine == nullptr) != (other == nullptr)) return fail(ErrorKind::unsupported, "its members are others");
    if (mine == nullptr) continue;
    const bool is_one_each = static_cast<std::int64_t>(mine->count()) == points &&
                             static_cast<std::int64_t>(other->count()) == added && mine->dtype == Dtype::f8 &&
                             other->dtype == Dtype::f8 && mine->packing == nullptr && other->packing == nullptr;
    if (!is_one_each) return fail(ErrorKind::damaged, "graph: not one number for each point in " + std::string(name));
    insertions.push_back({to.position_of(mine->bytes) + mine->bytes.size(), other->bytes});
  }
  std::ranges::sort(insertions, {}, &Insertion::position);
  const std::span<const std::byte> length = to.bytes_of(to.members, "fNpoints");
  if (length.size() != sizeof(std::int32_t)) return fail(ErrorKind::damaged, "graph: fNpoints");
  const std::size_t length_at = to.position_of(length);  // in front of all that they count
  TRY_VOID(to.insert(insertions));
  store_big(to.payload.data() + length_at, static_cast<std::int32_t>(points + added));
  return to.read();
}

}  // namespace tfile
