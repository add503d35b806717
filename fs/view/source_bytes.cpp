// SPDX-License-Identifier: Apache-2.0
#include "view/column_lengths.h"

namespace tfilefs {

std::uint64_t source_bytes(const CachedStreams& streams, const tfile::Table& table,
                           const std::set<tfile::ColumnId>& columns) {
  if (const CachedStreams::Files* files = streams.files()) return files->bytes;
  const tfile::StreamSet& set = streams.streams();
  std::set<const tfile::Source*> sources;
  std::uint64_t bytes = 0;
  for (const tfile::ColumnId id : columns) {
    const tfile::Column& column = table.columns[id];
    const std::size_t chunks = set.chunk_count(column.stream);
    // A record itself stores at most a few chunks: the last ones.
    for (const std::size_t chunk : {std::size_t{0}, chunks - 1}) {
      if (chunk >= chunks) continue;
      const auto at = set.locate({column.stream, static_cast<std::uint32_t>(chunk)});
      if (!at) continue;
      if (!at->source)
        bytes += at->embedded.size();
      else if (sources.insert(at->source).second)
        bytes += at->source->size();
    }
  }
  return bytes;
}

}  // namespace tfilefs
