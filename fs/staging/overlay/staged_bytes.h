// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "array/column_source.h"
#include "content.h"
#include "mutex.h"
#include "staging/journal/journal.h"
#include "staging/overlay/staged_block.h"
#include "staging/overlay/staging_memory.h"

namespace tfilefs {

// The bytes of one staged file: sparse, in blocks of 1 MiB, each in memory, in the journal, or nowhere (zeros).
// Thread-safe. No lock is held over I/O, and no memory is freed under one (freeing wakes other threads). Only one
// thread at a time appends records of a file, which keeps them in order.
class StagedBytes final : public ColumnSource, public std::enable_shared_from_this<StagedBytes> {
 public:
  static std::shared_ptr<StagedBytes> create(std::uint64_t id, std::shared_ptr<Journal>, StagingMemory&);

  // Limits how far behind the committed bytes a size or an offset beyond the end may be: a larger one is taken for a
  // mistake. Bytes written one after the other may become more.
  void limit_to(std::uint64_t bytes);

  std::uint64_t id() const { return id_; }
  std::uint64_t size() const;

  // Accepts the bytes, which are copied before this returns, and answers with their offset: the one given, or that of
  // the end at that time, so that two programs that append do not overwrite each other. Never blocks. If room must be
  // made in memory, a block must be read back from the journal, or the bytes are frozen, the write waits, and later
  // ones wait behind it. A waiting write is these bytes and their reply, and holds no thread. After an error no bytes,
  // or those up to the end of a block, were written. Errors: no_space, io (spilling, the journal), invalid (beyond 2^63
  // - 1, or the limit), denied (below the dropped bytes), cancelled().
  void write(std::optional<std::uint64_t> offset, std::span<const std::byte>, Reply<std::uint64_t>) EXCLUDES(mutex_);
  // The same without waiting: either all bytes were written, or (nothing) none. Errors: invalid, denied.
  Result<std::optional<std::uint64_t>> write_now(std::optional<std::uint64_t> offset, std::span<const std::byte>);

  // Adds a hole at the end, or cuts the end off. Never blocks. Errors: invalid, denied (within the dropped bytes), busy
  // (within the frozen bytes).
  Result<> truncate(std::uint64_t size);

  // Called for a commit that reads the bytes. Those below the returned size, and with `end` all behind them too, do not
  // change until thaw(), which must follow.
  std::uint64_t freeze(bool end = false);
  void thaw();
  bool is_frozen() const;
  bool is_frozen_at(std::uint64_t offset) const;
  // Answers when the byte at `offset` is not frozen: now, or later on a thread that may block only shortly.
  void when_thawed(std::uint64_t offset, Reply<void>);

  // Fills `into` from `offset`, up to the end; returns the number of bytes read. Blocks to read bytes in the journal.
  // Errors: io, denied (below the dropped bytes).
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const override;

  // Those bytes, up to the end, in place, if none of them is only in the journal. They do not change while the pins
  // live, even if the file is written. Never blocks.
  std::optional<Slices> pin(std::uint64_t offset, std::size_t size) const override;

  // Appends the changes since the last call to the journal (per block, from the first changed byte to the last), as of
  // one moment, and the size. Durable after the journal's next sync. Blocks. Errors: those of the journal; bytes that
  // could not be appended remain to be.
  Result<> journal_dirty();
  // Appends only how far the file was cut off since then.
  Result<> journal_cut();
  std::uint64_t dirty_bytes() const;
  // Whether replaying the journal would restore bytes that were cut off since.
  bool is_cut() const;
  // Whether replaying the journal restores all of it.
  bool is_journaled() const;
  // Whether the last journal_dirty() failed.
  bool journal_refused() const;

  // Restores bytes from a journal: `location` holds the bytes at `offset`. To be called in the order of the records,
  // before any write; a truncate record is a truncate(). replayed() tells that all records were passed, so that the
  // journal has this state. Loads no bytes. Errors: damaged (an impossible offset).
  Result<> restore(std::uint64_t offset, ByteRange location);
  void replayed();

  // Bytes of it in the journal.
  std::uint64_t journaled_bytes() const;
  // Copies the state that replaying the journal gives into another journal. Until the Move is destroyed no records are
  // appended for this file, which must not be truncated or dropped meanwhile. Blocks. Errors: those of the journals.
  class Move;
  Result<std::unique_ptr<Move>> copy_to(const std::shared_ptr<Journal>&);

  // The bytes below `offset` are in the file now. Blocks that lie entirely below are freed, and these bytes are neither
  // read nor written here any more.
  void drop_before(std::uint64_t offset);

  // For StagingMemory: lists the blocks that may be spilled; and spills one of them to the journal, unless it was
  // written since. Returns the number of bytes freed. Errors: those of the journal.
  struct Spillable {
    std::uint64_t last_write = 0;  // stamp
    std::uint64_t block = 0;
    std::uint64_t bytes = 0;
  };
  void list_spillable(std::vector<Spillable>& into) const;
  Result<std::uint64_t> spill(const Spillable&);

 private:
  // The memory that a write into a block needs before the lock is taken.
  struct Need {
    bool load = false;         // the block must be read back from the journal first
    std::size_t capacity = 0;  // of a new buffer; 0: none
  };
  // A range of bytes at one kind of place: in memory, in the journal, or zeros.
  struct Run {
    std::size_t size = 0;
    const std::byte* memory = nullptr;
    std::optional<std::uint64_t> at;  // in the journal
  };
  struct Runs {
    std::vector<Run> runs;
    std::shared_ptr<Journal> journal;  // the one that holds them
    std::vector<std::shared_ptr<const void>> pins;
  };
  // Bytes of a block that are being appended to the journal, in the state of the start.
  struct Flight {
    std::uint64_t block = 0, serial = 0;
    BlockRange range;
    std::shared_ptr<StagedBuffer> buffer;
    std::shared_ptr<const void> pin;
  };
  class Turn;
  // A write that waits for its turn, or has it.
  struct Waiting {
    std::optional<std::uint64_t> offset;  // none yet: at the end
    std::vector<std::byte> bytes;
    std::uint64_t done = 0;  // how many of them are written
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

  mutable Mutex mutex_{"StagedBytes::mutex_"};
  std::shared_ptr<Journal> journal_ GUARDED_BY(mutex_);  // changes only while no other thread appends for this file
  Condition turn_over_;
  bool turn_taken_ GUARDED_BY(mutex_) = false;                      // one thread at a time appends for this file
  std::map<std::uint64_t, StagedBlock> blocks_ GUARDED_BY(mutex_);  // by number; a missing one is zeros
  std::uint64_t size_ GUARDED_BY(mutex_) = 0;
  std::uint64_t limit_ GUARDED_BY(mutex_) = ~std::uint64_t{0};
  std::uint64_t dropped_ GUARDED_BY(mutex_) = 0;   // bytes below are not here any more
  std::uint64_t frozen_ GUARDED_BY(mutex_) = 0;    // bytes below do not change now
  std::list<Waiting> waiting_ GUARDED_BY(mutex_);  // the first is being written, or its bytes are frozen
  bool has_turn_ GUARDED_BY(mutex_) = false;       // take_turn() runs, or is going to
  std::vector<Reply<void>> until_thawed_ GUARDED_BY(mutex_);
  std::uint64_t lowest_size_ GUARDED_BY(mutex_) = 0;     // since the last truncate record
  std::uint64_t journaled_size_ GUARDED_BY(mutex_) = 0;  // the size that replaying the journal gives now
  bool journal_refused_ GUARDED_BY(mutex_) = false;
};

// Undone when it is destroyed, unless settle() was called.
class StagedBytes::Move {
 public:
  ~Move();
  Move(const Move&) = delete;
  Move& operator=(const Move&) = delete;
  void settle();  // from now on the file uses the other journal

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
