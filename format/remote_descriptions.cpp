// SPDX-License-Identifier: Apache-2.0
#include "remote_descriptions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "container/payload.h"
#include "ntuple/description.h"
#include "ntuple/ntuple_table.h"

namespace tfile {
namespace {

// As much as a tree of some ten thousand branches has.
constexpr std::uint64_t kDescriptionsMax = 8 << 20;

// The most that other RNTuples may add to the one that is asked for: a second at 8 Mb/s.
constexpr std::uint64_t kOthersMax = 1 << 20;

// Trees are written right before the list of keys: a list of keys that does not lie at the end comes with so much
// before it, as much as is read of the end.
constexpr std::uint64_t kBeforeKeys = 256 << 10;

// Ranges to be read together.
struct Ranges {
  std::vector<ByteRange> list;
  std::uint64_t bytes = 0, most = kDescriptionsMax;

  // Left out, if the sum would be more than `most`.
  void add(ByteRange range) {
    if (bytes > most || range.size > most - bytes) return;
    bytes += range.size;
    list.push_back(range);
  }
  void add(const std::vector<ByteRange>& ranges) {
    for (const ByteRange range : ranges) add(range);
  }
};

// Holds ranges of each of these, which of(each) gives: those of the first, and as many of the others as may come along.
template <class Each, class Of>
Result<> hold_each(const EdgeSource& edges, std::span<const Each> all, const Of& of) {
  Ranges wanted;
  for (std::size_t i = 0; i < all.size(); ++i) {
    wanted.add(of(all[i]));
    if (i == 0) wanted.most = wanted.bytes + kOthersMax;
  }
  return edges.hold(std::move(wanted.list));
}

ByteRange record_of(const KeyInfo& key) { return {key.seek, key.nbytes}; }

// Without those that are not held, or damaged.
std::vector<Anchor> held_anchors(const EdgeSource& edges, std::span<const KeyInfo> keys) {
  std::vector<Anchor> anchors;
  for (const KeyInfo& key : keys) {
    if (!edges.is_held(record_of(key))) continue;
    const auto payload = read_payload(edges, key);
    auto anchor = payload ? read_anchor(payload->span()) : tl::unexpected<Error>(payload.error());
    if (anchor) anchors.push_back(*std::move(anchor));
  }
  return anchors;
}

}  // namespace

Result<> RemoteDescriptions::hold_keys(const DirectoryRecord& root, ByteRange streamer_info) const {
  if (!edges_->traits().starts_reads || root.seek_keys <= 0 || root.nbytes_keys <= 0) return {};
  const auto keys = static_cast<std::uint64_t>(root.seek_keys), size = static_cast<std::uint64_t>(root.nbytes_keys);
  if (edges_->is_held({keys, size})) return {};
  const std::uint64_t begin = keys - std::min(keys, kBeforeKeys);
  Ranges wanted;
  wanted.add(ByteRange{begin, keys + size - begin});
  wanted.add(streamer_info);
  return edges_->hold(std::move(wanted.list));
}

Result<> RemoteDescriptions::hold_tables(std::span<const KeyInfo> root, ByteRange streamer_info) const {
  if (!edges_->traits().starts_reads) return {};
  Ranges wanted;
  wanted.add(streamer_info);
  for (const KeyInfo& key : root)
    if (key.kind == KeyKind::table) wanted.add(record_of(key));
  return edges_->hold(std::move(wanted.list));
}

// The first, and the others of the root directory; from now on they count as held.
std::vector<KeyInfo> RemoteDescriptions::not_held(const KeyInfo& first, std::span<const KeyInfo> root) {
  std::vector<KeyInfo> found{first};
  for (const KeyInfo& key : root)
    if (key.kind == KeyKind::table && key.reason.empty() && is_ntuple(key.class_name) &&
        ntuples_held_.insert(key.seek).second)
      found.push_back(key);
  return found;
}

Result<> RemoteDescriptions::hold_ntuples(const KeyInfo& first, std::span<const KeyInfo> root) {
  if (!edges_->traits().starts_reads) return {};
  const Lock lock(ntuples_mutex_);
  if (!ntuples_held_.insert(first.seek).second) return {};
  const std::vector<KeyInfo> keys = not_held(first, root);
  TRY_VOID(hold_each<KeyInfo>(*edges_, keys, [](const KeyInfo& key) { return std::vector{record_of(key)}; }));
  const std::vector<Anchor> anchors = held_anchors(*edges_, keys);
  TRY_VOID(hold_each<Anchor>(*edges_, anchors, [](const Anchor& anchor) { return schema_ranges(anchor); }));
  if (anchors.size() < 2) return {};  // who opens it reads its page lists together
  return hold_each<Anchor>(*edges_, anchors, [&](const Anchor& anchor) {
    const auto schema = schema_ranges(anchor);
    const bool held = std::ranges::all_of(schema, [&](ByteRange range) { return edges_->is_held(range); });
    return held ? page_list_ranges(*edges_, anchor) : std::vector<ByteRange>{};
  });
}

}  // namespace tfile
