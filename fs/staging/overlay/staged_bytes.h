// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "content.h"
#include "mutex.h"
#include "staging/journal/journal.h"
#include "staging/overlay/column_source.h"
#include "staging/overlay/staged_block.h"
#include "staging/overlay/staging_memory.h"

namespace tfilefs {

// The bytes of one staged file: sparse, in blocks of 1 MiB, each in memory, in the journal, or nowhere (zeros).
// Thread-safe. No lock is held over I/O, and no memory is freed under one (that wakes others). The journal's order of
// what belongs to one file is kept by letting one thread at a time append for it.
class StagedBytes final : public ColumnSource, public std::enable_shared_from_this<StagedBytes> {
 public:
  static std::shared_ptr<StagedBytes> create(std::uint64_t id, std::shared_ptr<Journal>, StagingMemory&);

  // Nobody names a size of more than so many bytes behind what is committed, by a hole: who does means another. What is
  // written one behind the other may become more.
  void limit_to(std::uint64_t bytes);

  std::uint64_t id() const { return id_; }
  std::uint64_t size() const;

  // Takes the bytes, which are copied before this returns, and answers with the offset at which they lie: the one
  // given, or that of the end, wherever it is then, so that two who append do not write over each other. Never blocks.
  // Where memory must be made, a block comes back from the journal, or the bytes are frozen, what is to be written
  // waits, and what comes after it waits behind it: a write that waits is these bytes and their reply, and no thread.
  // On an error nothing, or the part up to a block's end, was taken. Errors: no_space, io (spilling, the journal),
  // invalid (beyond 2^63 - 1, or the limit), denied (below what was dropped), given_up().
  void write(std::optional<std::uint64_t> offset, std::span<const std::byte>, Reply<std::uint64_t>) EXCLUDES(mutex_);
  // The same where nothing is to be waited for: all of it was taken, or (nothing) none of it. Errors: invalid, denied.
  Result<std::optional<std::uint64_t>> write_now(std::optional<std::uint64_t> offset, std::span<const std::byte>);

  // A hole at the end, or the end cut off. Never blocks. Errors: invalid, denied (into what was dropped), busy (into
  // what is frozen).
  Result<> truncate(std::uint64_t size);

  // A commit reads the bytes: those below the size that it gives, and with `end` all behind them, too, stay as they are
  // until thaw(), which must follow.
  std::uint64_t freeze(bool end = false);
  void thaw();
  bool is_frozen() const;
  bool is_frozen_at(std::uint64_t offset) const;
  // When the byte at `offset` is not frozen: now, or later from a thread that may not be blocked for long.
  void when_thawed(std::uint64_t offset, Reply<void>);

  // Fills `into` from `offset`, up to the end; gives the bytes read. Blocks for what is in the journal. Errors: io,
  // denied (below what was dropped).
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const override;

  // Those bytes, up to the end, where they lie, if none of them is in the journal alone; they stay as they are while
  // the pins live, whatever is written. Never blocks.
  std::optional<Slices> pin(std::uint64_t offset, std::size_t size) const override;

  // Appends to the journal what changed since the last time (of a block, from the first changed byte to the last), as
  // of one instant, and the size. Durable after the journal's next sync. Blocks. Errors: the journal's; what could not
  // be appended is still to be.
  Result<> journal_dirty();
  std::uint64_t dirty_bytes() const;
  // Whether replaying the journal gives bytes that were cut off since.
  bool is_cut() const;
  // Whether replaying the journal gives all of it.
  bool is_journaled() const;
  // Whether the last journal_dirty() failed.
  bool journal_refused() const;

  // What was read from a journal: `location` holds the bytes at `offset`. In the order of the records, before anything
  // is written; a truncate record is a truncate(), and replayed() says when all was told: the journal knows this state.
  // Loads nothing. Errors: damaged (an offset that cannot be).
  Result<> restore(std::uint64_t offset, ByteRange location);
  void replayed();

  // What the journal holds of it.
  std::uint64_t journaled_bytes() const;
  // The same in another journal: what replaying that gives. Until it is destroyed nothing is appended for this file,
  // which must not be truncated, nor dropped, meanwhile. Blocks. Errors: the journals'.
  class Move;
  Result<std::unique_ptr<Move>> copy_to(const std::shared_ptr<Journal>&);

  // Bytes below `offset` are in the file now: blocks that lie wholly below are let go, and none of these bytes is read
  // or written here again.
  void drop_before(std::uint64_t offset);

  // For StagingMemory: the blocks that may be spilled, and one of them into the journal, if it was not written since.
  // Gives the bytes that were freed. Errors: the journal's.
  struct Spillable {
    std::uint64_t last_write = 0;  // stamp
    std::uint64_t block = 0;
    std::uint64_t bytes = 0;
  };
  void list_spillable(std::vector<Spillable>& into) const;
  Result<std::uint64_t> spill(const Spillable&);

 private:
  // What a write into a block needs that is got without the lock.
  struct Need {
    bool load = false;         // the block comes back from the journal first
    std::size_t capacity = 0;  // of a new buffer; 0: none
  };
  // A stretch of bytes and where they are: in memory, in the journal, or zeros.
  struct Run {
    std::size_t size = 0;
    const std::byte* memory = nullptr;
    std::optional<std::uint64_t> at;  // in the journal
  };
  struct Runs {
    std::vector<Run> runs;
    std::shared_ptr<Journal> journal;  // in which they are
    std::vector<std::shared_ptr<const void>> pins;
  };
  // Bytes of a block on their way into the journal, as they were when they set out.
  struct Flight {
    std::uint64_t block = 0, serial = 0;
    BlockRange range;
    std::shared_ptr<StagedBuffer> buffer;
    std::shared_ptr<const void> pin;
  };
  class Turn;
  // A write that waits for its turn, or takes it.
  struct Waiting {
    std::optional<std::uint64_t> offset;  // none yet: at the end
    std::vector<std::byte> bytes;
    std::uint64_t done = 0;  // of them
    Reply<std::uint64_t> reply;
  };

  StagedBytes(std::uint64_t id, std::shared_ptr<Journal>, StagingMemory&);
  Result<> check_writable(std::uint64_t offset, std::uint64_t size) const REQUIRES(mutex_);
  Need need_of(std::uint64_t block, BlockRange) const REQUIRES(mutex_);
  std::shared_ptr<StagedBuffer> put(std::uint64_t block, BlockRange, std::span<const std::byte>,
                                    std::shared_ptr<StagedBuffer> fresh) REQUIRES(mutex_);
  Result<bool> write_piece(std::uint64_t block, BlockRange, std::span<const std::byte>) EXCLUDES(mutex_);
  Result<bool> go_on(Waiting&) EXCLUDES(mutex_);
  void take_turn() EXCLUDES(mutex_);
  void ask_turn() EXCLUDES(mutex_);
  Result<> load(std::uint64_t block) EXCLUDES(mutex_);
  Runs runs_of(std::uint64_t begin, std::uint64_t end) const REQUIRES(mutex_);

  std::shared_ptr<Journal> journal() const EXCLUDES(mutex_);
  Flight take_off(std::uint64_t block, StagedBlock&, BlockRange) REQUIRES(mutex_);
  Result<> append(const Flight&) EXCLUDES(mutex_);
  void turn_back(const Flight&) EXCLUDES(mutex_);
  Result<> append_dirty() EXCLUDES(mutex_);
  Result<> append_truncation(std::uint64_t lowest) EXCLUDES(mutex_);

  const std::uint64_t id_;
  StagingMemory& memory_;

  mutable Mutex mutex_;
  std::shared_ptr<Journal> journal_ GUARDED_BY(mutex_);  // changes only while nobody else appends for this file
  Condition turn_over_;
  bool turn_taken_ GUARDED_BY(mutex_) = false;                      // one thread at a time appends for this file
  std::map<std::uint64_t, StagedBlock> blocks_ GUARDED_BY(mutex_);  // by number; one that is not there is zeros
  std::uint64_t size_ GUARDED_BY(mutex_) = 0;
  std::uint64_t limit_ GUARDED_BY(mutex_) = ~std::uint64_t{0};
  std::uint64_t dropped_ GUARDED_BY(mutex_) = 0;   // bytes below are gone
  std::uint64_t frozen_ GUARDED_BY(mutex_) = 0;    // bytes below do not change now
  std::list<Waiting> waiting_ GUARDED_BY(mutex_);  // the first is being written, or its bytes are frozen
  bool has_turn_ GUARDED_BY(mutex_) = false;       // take_turn() runs, or is to run
  std::vector<Reply<void>> until_thawed_ GUARDED_BY(mutex_);
  std::uint64_t lowest_size_ GUARDED_BY(mutex_) = 0;     // since the journal was last told of a truncation
  std::uint64_t journaled_size_ GUARDED_BY(mutex_) = 0;  // what replaying the journal gives now
  bool journal_refused_ GUARDED_BY(mutex_) = false;
};

// Taken back when it is destroyed, unless it was settled.
class StagedBytes::Move {
 public:
  ~Move();
  Move(const Move&) = delete;
  Move& operator=(const Move&) = delete;
  void settle();  // the other journal is the one from now on

 private:
  friend class StagedBytes;
  Move(StagedBytes&, std::shared_ptr<Journal>);
  Result<> copy();
  Result<> copy_part(std::uint64_t block, const JournaledPart&);

  StagedBytes& file_;
  const std::unique_ptr<Turn> turn_;
  const std::shared_ptr<Journal> from_, to_;
  std::map<std::uint64_t, std::vector<JournaledPart>> parts_;  // by block
  std::uint64_t size_ = 0;
};

}  // namespace tfilefs
