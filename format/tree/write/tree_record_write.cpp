// SPDX-License-Identifier: Apache-2.0
#include "tree/write/tree_record_write.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace tfile {
namespace {

// Versions and values of ROOT 6.40 for a tree with default settings.
constexpr std::uint16_t kTreeVersion = 20, kAttLineVersion = 2, kAttMarkerVersion = 3;
constexpr std::uint32_t kMustCleanup = 1 << 3;
constexpr std::int64_t kMaxEntries = 1'000'000'000'000;
constexpr std::int64_t kAutoSave = -300'000'000;
constexpr std::int64_t kEstimate = 1'000'000;

void write_attributes(ObjectAppender& out) {
  const std::size_t line = out.open(kAttLineVersion);
  out.big(std::int16_t{602});  // ROOT's default colour of lines
  out.big(std::int16_t{1});
  out.big(std::int16_t{1});
  out.close(line);
  const std::size_t fill = out.open(kAttFillVersion);
  out.big(std::int16_t{0});
  out.big(std::int16_t{1001});
  out.close(fill);
  const std::size_t marker = out.open(kAttMarkerVersion);
  out.big(std::int16_t{1});
  out.big(std::int16_t{1});
  out.big(1.0F);
  out.close(marker);
}

void write_numbers(ObjectAppender& out, std::span<const std::int64_t> numbers) {
  out.u1(numbers.empty() ? 0 : 1);
  for (const std::int64_t number : numbers) out.big(number);
}

void write_settings(ObjectAppender& out, const TreeNumbers& numbers, const Clusters& clusters) {
  out.big(numbers.entries);
  out.big(numbers.tot_bytes);
  out.big(numbers.zip_bytes);
  out.big(std::int64_t{0});                                       // fSavedBytes
  out.big(numbers.zip_bytes);                                     // fFlushedBytes
  out.big(1.0);                                                   // fWeight
  out.big(std::int32_t{0});                                       // fTimerInterval
  out.big(std::int32_t{25});                                      // fScanField
  out.big(std::int32_t{0});                                       // fUpdate
  out.big(std::int32_t{1000});                                    // fDefaultEntryOffsetLen
  out.big(static_cast<std::int32_t>(clusters.range_end.size()));  // fNClusterRange
  out.big(kMaxEntries);                                           // fMaxEntries
  out.big(kMaxEntries);                                           // fMaxEntryLoop
  out.big(std::int64_t{0});                                       // fMaxVirtualSize
  out.big(kAutoSave);
  out.big(clusters.auto_flush);
  out.big(kEstimate);
  write_numbers(out, clusters.range_end);
  write_numbers(out, clusters.range_size);
  const std::size_t features = out.open_unversioned(kIoFeaturesChecksum);
  out.u1(0);
  out.close(features);
}

}  // namespace

void Clusters::end_cluster(std::int64_t begin, std::int64_t end, std::int64_t size) {
  const std::int64_t range_begin = range_end.empty() ? 0 : range_end.back() + 1;
  std::int64_t wanted = size > 0 ? size : auto_flush;
  if (wanted > 0) wanted = std::max(wanted, end - begin);
  // The open range continues if its clusters, of equal size, end here and this cluster has that size, too.
  const bool leads_here = auto_flush > 0 && (begin - range_begin) % auto_flush == 0;
  if (begin > range_begin && !(leads_here && wanted == auto_flush)) {
    range_end.push_back(begin - 1);
    range_size.push_back(auto_flush > 0 ? auto_flush : begin - range_begin);
  }
  auto_flush = wanted;
}

// Counters come before the branches that they count, since a leaf can only refer to an earlier one; else the given
// order.
void write_branches(ObjectAppender& out, std::span<const BranchToWrite> branches, int compression, LeafPlaces& leaves) {
  std::vector<bool> written(branches.size());
  std::unordered_map<std::string_view, std::size_t> numbers;
  for (std::size_t i = 0; i < branches.size(); ++i) numbers.emplace(branches[i].branch->name, i);
  const auto write = [&](std::size_t i) {
    if (written[i]) return;
    written[i] = true;
    write_branch(out, *branches[i].branch, *branches[i].baskets, compression, leaves);
  };
  for (std::size_t i = 0; i < branches.size(); ++i) {
    const auto counter = numbers.find(branches[i].branch->counter);
    if (branches[i].branch->kind == WrittenBranch::Kind::counted && counter != numbers.end()) write(counter->second);
    write(i);
  }
}

std::vector<std::byte> write_tree(std::uint32_t keylen, const std::string& name, const std::string& title,
                                  const TreeNumbers& numbers, const Clusters& clusters,
                                  std::span<const BranchToWrite> branches, int compression) {
  ObjectAppender out(keylen);
  const std::size_t frame = out.open(kTreeVersion);
  out.tnamed(name, title, kMustCleanup);
  write_attributes(out);
  write_settings(out, numbers, clusters);
  LeafPlaces leaves;
  const std::size_t list = out.open_array(static_cast<std::int32_t>(branches.size()));
  write_branches(out, branches, compression, leaves);
  out.close(list);
  const std::size_t all = out.open_array(static_cast<std::int32_t>(leaves.all.size()));
  for (const std::size_t leaf : leaves.all) out.reference(leaf);
  out.close(all);
  // fAliases, fIndexValues, fIndex, fTreeIndex, fFriends, fUserInfo, fBranchRef: none.
  out.zeros(7 * 4);
  out.close(frame);
  return out.take();
}

}  // namespace tfile
