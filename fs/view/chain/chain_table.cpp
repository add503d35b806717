// SPDX-License-Identifier: Apache-2.0
#include "view/chain/chain_table.h"

#include <algorithm>
#include <utility>

namespace tfilefs {
namespace {

// Files and indexes may claim anything.
bool are_clusters(const std::vector<std::int64_t>& clusters, std::int64_t entries) {
  return !clusters.empty() && clusters.front() == 0 && clusters.back() == entries && std::ranges::is_sorted(clusters);
}

}  // namespace

ChainTable::ChainTable(ChainSchema schema, std::vector<ChainedFile> files, std::vector<std::uint64_t> stored)
    : counts_(std::move(schema.counts)), files_(std::move(files)), stored_(std::move(stored)) {
  chained_ = std::move(schema.chained);
  kind = "chain";
  nodes = std::move(schema.nodes);
  columns = std::move(schema.columns);
  for (const ChainedFile& file : files_) {
    first_entries_.push_back(entries);
    // The end of a file's last cluster is where the next file begins.
    const bool has_clusters = are_clusters(file.clusters, file.entries);
    for (std::size_t i = 0; has_clusters && i + 1 < file.clusters.size(); ++i)
      clusters.push_back(entries + file.clusters[i]);
    if (!has_clusters && file.entries > 0) clusters.push_back(entries);
    entries += file.entries;
  }
  first_entries_.push_back(entries);
  if (!clusters.empty()) clusters.push_back(entries);
}

CountSource ChainTable::count_source(CountId id, std::size_t file) const {
  const auto schema = files_[file].schema;
  return schema ? counts_[id][*schema] : CountSource{};
}

ItemSource ChainTable::item_source(tfile::ColumnId id, std::size_t file) const {
  const auto schema = files_[file].schema;
  return schema ? chained_[id].sources[*schema] : ItemSource{};
}

tfile::StreamShape ChainTable::shape(tfile::StreamId stream) const {
  tfile::StreamShape shape;
  shape.chunks = files_.size();
  shape.slots = 1;
  shape.stored_bytes = stream < stored_.size() ? stored_[stream] : 0;
  return shape;
}

tfile::EntryRange ChainTable::chunk_entries(tfile::ChunkKey key) const {
  return {first_entries_[key.index], first_entries_[key.index + 1]};
}

std::vector<std::int64_t> ChainTable::lengths(tfile::StreamId stream) const {
  if (chained_[stream].count != 0) return {-1};
  return {entries + (columns[stream].role == tfile::Role::offsets ? 1 : 0)};
}

}  // namespace tfilefs
