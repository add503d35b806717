// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tfile/mutex.h"
#include "tfile/source.h"
#include "tfile/stream_set.h"
#include "tfile/table.h"
#include "tree/read/shared_ends.h"
#include "tree/read/stream.h"
#include "tree/read/stream_slots.h"
#include "tree/read/table_trials.h"
#include "tree/read/trial_baskets.h"
#include "tree/record/tree_record.h"

namespace tfile {

// The bytes of an entry offset, and of their count.
constexpr std::uint64_t kOffsetSize = 4;

// The table of a TTree: its streams, one for each branch with baskets. The functions are where their subject is: what
// the table is (tree_table.cpp), baskets (basket_streams.cpp), numbers of items (stream_lengths.cpp), baskets whose
// items other streams count (list_counters.cpp), columns without bytes (unwritten_columns.cpp).
class TreeTable final : public Table, public ItemCounter, public std::enable_shared_from_this<TreeTable> {
 public:
  TreeTable(std::shared_ptr<const Source> source, TreeRecord tree, std::shared_ptr<const StreamerInfos> infos);
  Result<std::shared_ptr<const Table>> resolve_branch(NodeId node, std::size_t ahead) const override;
  Result<std::shared_ptr<const Table>> resolve_all() const override;
  std::vector<Column> resolved_columns(StreamId id) const override;
  std::size_t memory() const override;

  std::size_t stream_count() const override { return streams_.size(); }
  StreamShape shape(StreamId id) const override;

  // The values of a list's counter are part of its offsets, wherever the counter is stored.
  std::vector<Sibling> siblings_of(StreamId id) const override;
  EntryRange chunk_entries(ChunkKey key) const override;
  Result<Locator> locate(ChunkKey key) const override;
  Result<Locator> header_locator(ChunkKey key) const override;
  std::uint64_t decoded_size(ChunkKey key) const override;
  std::vector<ChunkKey> inputs(ChunkKey key) const override;

  const ItemCounter* counter() const override { return this; }

  Result<Counted> count(ChunkKey key, std::span<const std::byte> bytes,
                        std::span<const std::shared_ptr<const Chunk>> inputs) const override;
  void place(ChunkKey key, Chunk& chunk, std::span<const std::int64_t> first) const override;
  std::vector<std::int64_t> lengths(StreamId id) const override;
  Result<Extents> extents(StreamId id) const override;
  std::vector<StreamId> telling_streams() const override;

  // Notes the number of items in the lists, and the size of the key, for the other branches with the same lists; their
  // keys differ only in the branch's name.
  void note_counted(StreamId id, std::span<const std::int64_t> lengths,
                    std::span<const std::byte> header0) const override;
  std::uint64_t unpacked_size(ChunkKey key, std::span<const std::byte> stored) const override;
  std::string_view codec_of(ChunkKey key, std::span<const std::byte> begin, std::uint64_t stored) const override;
  std::string contradicted_sums(StreamId id, std::uint64_t unpacked) const override;
  Result<Chunk> decode(ChunkKey key, std::span<const std::byte> stored,
                       std::span<const std::shared_ptr<const Chunk>> inputs,
                       std::span<const std::int64_t> first) const override;

 private:
  struct KnownLists {
    std::int64_t items = 0;
    std::int64_t keylen = 0;  // size of a basket's key, without the branch's name
  };

  Result<Chunk> chunk_of(ChunkKey key, std::span<const std::byte> stored,
                         std::span<const std::shared_ptr<const Chunk>> inputs,
                         std::span<const std::int64_t> first) const;

  // ROOT makes branches even for members that it cannot reach, such as those of std::array in a vector, and writes
  // nothing to them. Whether, according to the record, the column may be such a member.
  bool is_doubtful(std::span<const Column> all, const Column& column) const;

  // Whether a stream has all its baskets, and they may consist of nothing but their keys: a guess, since fTotBytes may
  // be wrong.
  bool may_hold_nothing(StreamId id) const;

  // Reads the headers of the doubtful columns' baskets together, then the counts of their lists. Columns for which the
  // storage fails to deliver these are unread.
  Result<> note_unwritten(std::vector<Column>& all, std::set<ColumnId>& left_unread) const;

  // Keeps the columns whose first basket, or all of whose baskets, have no items.
  Result<> keep_those_without_items(std::vector<Column>& all, std::vector<ColumnId>& columns_left, bool whole,
                                    std::set<ColumnId>& left_unread) const;
  std::uint32_t baskets_looked_at(StreamId id, bool whole) const;
  Result<> note_unwritten(std::vector<Column>& all, std::span<const ColumnId> empty, TrialBaskets& counts,
                          std::set<ColumnId>& left_unread) const;

  // Columns whose bytes are missing, or contradict their lists, have no values, and a reason.
  void note_missing_values(std::span<Column> all) const;

  // A branch from which a stream is decoded, and whose file cannot be opened.
  const BranchStorage* missing_branch(StreamId id) const;
  // Whether the branch has baskets in another file. (Baskets that were not full when the tree was written are in the
  // tree's record.)
  static bool has_baskets_elsewhere(const BranchStorage& branch);
  std::string in_missing_file(const BranchStorage& branch) const;

  TrialBaskets no_baskets() const;
  bool holds_nothing(StreamId id, TrialBaskets& headers, bool whole) const;
  std::uint64_t header_max(const BranchStorage& branch) const;

  const BranchStorage& branch_of(StreamId id) const { return branches_[streams_[id].branch]; }
  std::size_t basket_count(StreamId id) const { return branch_of(id).baskets.seek.size(); }
  std::int64_t stream_entries(StreamId id) const;
  static ItemsFrom items_from(const Stream& stream);
  static bool needs_no_size(const Stream& stream);

  // The size of the data of one basket, from its header.
  Result<std::uint64_t> data_size(ChunkKey key, std::span<const std::byte> stored) const;
  Result<BasketHeader> checked_header(ChunkKey key, std::span<const std::byte> stored) const;
  Result<BasketData> basket_data(ChunkKey key, std::span<const std::byte> stored) const;
  static bool has_baskets_on_disk(const BranchStorage& branch);

  // Whether fTotBytes can give the size of the data of all baskets: nothing is lost, and either all or none have entry
  // offsets.
  bool sizes_add_up(StreamId id) const;

  // By the record alone: for baskets that are in it, everything. For others only sums, which may be wrong (ROOT
  // 5.34 has counted baskets twice): they are believed where they give as many items as were counted in a branch with
  // the same lists.
  std::optional<std::vector<std::int64_t>> lengths_without_header(StreamId id) const;
  std::optional<KnownLists> known_lists(const Stream& stream) const;
  bool contradicts_neighbour(StreamId id) const { return known_lists(streams_[id]) && !lengths_without_header(id); }

  std::optional<std::vector<std::int64_t>> told_by_neighbour(StreamId id) const;

  // The size of the data if fTotBytes is right. It includes the keys, the data and the entry offsets (a count,
  // then n + 1 of them) of the baskets on disk.
  std::optional<std::uint64_t> size_by_keylen(StreamId id, std::int64_t keylen) const;

  // The items of each entry, for a basket without offsets; also computes the offsets if the program needs them.
  Result<std::vector<std::int64_t>> missing_offsets(ChunkKey key, BasketData& data,
                                                    std::span<const std::shared_ptr<const Chunk>> inputs) const;

  // The items of each entry of a basket, from the chunks of its counter.
  Result<std::vector<std::int64_t>> entry_counts(ChunkKey key,
                                                 std::span<const std::shared_ptr<const Chunk>> chunks) const;

  // The counter's value for each item, beginning with the chunk's first entry.
  Result<std::vector<std::int64_t>> item_counts(ChunkKey key,
                                                std::span<const std::shared_ptr<const Chunk>> chunks) const;

  std::vector<ChunkKey> chunks_over(StreamId stream, EntryRange wanted) const;
  Result<const Source*> source_of(const BranchStorage& branch) const;

  // The streams from which a stream is decoded, including itself.
  void add_origins(StreamId id, std::set<StreamId>& into) const;
  void open_siblings(const TreeRecord& tree);

  std::shared_ptr<const Source> source_;
  std::vector<BranchStorage> branches_;
  std::vector<std::uint64_t> stored_bytes_;          // of each branch: the sizes of its baskets, added up
  std::map<BranchIndex, std::string> contradicted_;  // with the reason
  StreamSlots streams_;
  mutable SharedEnds shared_ends_;
  mutable Mutex lists_mutex_{"TreeTable::lists_mutex_"};
  mutable std::map<BranchIndex, KnownLists> lists_ GUARDED_BY(lists_mutex_);  // by the branch that counts them
  std::map<std::string, Result<std::shared_ptr<const Source>>> siblings_;
  std::unique_ptr<const TableTrials> trials_;  // nullptr if no branch needs a trial
};

}  // namespace tfile
