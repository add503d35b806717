// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "exec/thread_pool.h"
#include "reply.h"
#include "table_build/field_items.h"
#include "table_build/file_writes.h"
#include "tfile/range.h"
#include "tfile/writer.h"

namespace tfilefs {

// The source of a table's items, and how much of them is taken at a time.
struct PartSource {
  // Opens field number `field` at the first entry of a cluster.
  std::function<ReadItems(std::size_t field, std::int64_t begin)> open;
  double sample_bytes = 0;  // of the columns of each field: they are encoded to find out how large entries are
  // Whether a job reads and encodes all parts of a field in one cluster, so that no more of the source is needed at a
  // time. Otherwise the calling thread reads, and parts are in the order of their first entries, so that a reader of
  // many fields never goes back.
  bool by_field = false;
  std::uint64_t under_way_max = 0;  // bytes of columns; by field: jobs
  // Told of entries that cannot be encoded for what they say; no part is added any more. Null: that is an error.
  std::function<void(std::size_t field, tfile::EntryRange, const Error&)> refuse;
};

// The target of parts, and who does the work.
struct PartSink {
  tfile::FileWriter& places;
  FileWrites* file = nullptr;  // null: samples alone are encoded
  ThreadPool& coders;
  std::optional<std::uint64_t> cluster_bytes;  // compressed; nothing: as is usual
  std::function<void(std::uint64_t)> encoded;  // bytes of columns that became parts; null: nobody asks
};

// The state of a field of a table that is built.
struct BuiltField {
  std::int64_t entries = 0;  // written so far
  bool dropped = false;      // no more is written of it
  bool sampled = false;
  std::int64_t part_entries = 0;  // 0: not known yet
};

// A table that is encoded field by field, and cluster by cluster. Used by one thread.
struct TableBuild {
  tfile::TableWriter& writer;
  std::vector<BuiltField>& fields;  // by number
  const PartSink& sink;
  PartSource source;
  double stored_each = 0;    // stored bytes of an entry, according to samples
  std::uint64_t stored = 0;  // that were written
  bool is_refused = false;
};

// Encodes samples of these entries, of fields that have none yet. Returns how many entries make a cluster of the wanted
// size; 0: no sample tells. Blocks. Errors: those of reading and encoding.
Result<std::int64_t> size_clusters(TableBuild&, tfile::EntryRange);

// Writes the clusters of these entries, without what fields have already. `end_of`: where the cluster ends that begins
// there; if it ends there, too, it and what follows is not written. `cluster_entries`: as TableWriter::end_cluster has
// it. Returns where the last cluster ends. Blocks. Errors: those of reading, encoding and writing.
Result<std::int64_t> write_clusters(TableBuild&, tfile::EntryRange, std::int64_t cluster_entries,
                                    const std::function<std::int64_t(std::int64_t begin)>& end_of);

// Encodes items of that field as one part. Errors: as TableWriter::encode.
Result<tfile::Part> encode_items(const tfile::TableWriter&, std::size_t field, const FieldItems&);
// Whether encoding fails for what the entries say, not for want of memory or the like.
bool is_about_entries(const Error&);

}  // namespace tfilefs
