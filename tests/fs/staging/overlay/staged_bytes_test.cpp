// SPDX-License-Identifier: Apache-2.0
#include "staging/overlay/staged_bytes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <future>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "fs/staging/journal_directory.h"

namespace tfilefs {
namespace {

std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string text_of(const StagedBytes& file, std::uint64_t offset, std::size_t size) {
  std::string text(size, '?');
  const auto got = file.read(offset, std::as_writable_bytes(std::span(text)));
  if (!got) return "error: " + got.error().text;
  text.resize(*got);
  return text;
}

std::string all_of(const StagedBytes& file) { return text_of(file, 0, file.size() + 1); }

// Writes, and waits for the result.
Result<std::uint64_t> write_to(StagedBytes& file, std::optional<std::uint64_t> offset,
                               std::span<const std::byte> bytes) {
  std::promise<Result<std::uint64_t>> done;
  file.write(offset, bytes, Reply<std::uint64_t>([&](Result<std::uint64_t> at) { done.set_value(std::move(at)); }));
  return done.get_future().get();
}

// A write that may have to wait.
class Write {
 public:
  Write(StagedBytes& file, std::optional<std::uint64_t> offset, const std::string& text) {
    Reply<std::uint64_t> told([done = done_](Result<std::uint64_t> at) { done->set_value(std::move(at)); },
                              stop_token_.get_token());
    file.write(offset, as_bytes(text), std::move(told));
  }
  bool is_answered() { return answer_.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
  Result<std::uint64_t> wait() { return answer_.get(); }
  void interrupt() { stop_token_.request_stop(); }

 private:
  const std::shared_ptr<std::promise<Result<std::uint64_t>>> done_ =
      std::make_shared<std::promise<Result<std::uint64_t>>>();
  std::future<Result<std::uint64_t>> answer_ = done_->get_future();
  std::stop_source stop_token_;
};

class StagedFiles : public JournalDirectory {
 protected:
  void SetUp() override {
    JournalDirectory::SetUp();
    journal_ = *create();
    use_memory(64u << 20);
  }
  void use_memory(std::uint64_t limit) {
    file_.reset();
    memory_ = std::make_unique<StagingMemory>(budget_, limit, queues_);
    file_ = StagedBytes::create(1, journal_, *memory_);
  }
  void write(std::uint64_t offset, const std::string& text) { ASSERT_TRUE(write_to(*file_, offset, as_bytes(text))); }

  // The files that a mount would find after a crash at this instant.
  std::map<std::uint64_t, std::shared_ptr<StagedBytes>> after_crash() {
    const std::string there = bytes();
    std::filesystem::rename(file(), path_ / "live");
    set_bytes(there);
    const auto replayed = replay();
    std::filesystem::rename(path_ / "live", file());
    std::map<std::uint64_t, std::shared_ptr<StagedBytes>> files;
    EXPECT_TRUE(replayed);
    if (!replayed) return files;
    for (const JournalRecord& record : replayed->records) {
      auto& found = files[record.id];
      if (!found) found = StagedBytes::create(record.id, replayed->journal, *memory_);
      const bool data = record.kind == JournalKind::data;
      EXPECT_TRUE(data ? found->restore(record.offset, record.location) : found->truncate(record.offset));
    }
    for (auto& [id, found] : files) found->replayed();
    return files;
  }
  std::string after_crash_text() {
    auto files = after_crash();
    return files[1] ? all_of(*files[1]) : "";
  }

  const std::shared_ptr<Budget> budget_ = std::make_shared<Budget>(256u << 20);
  std::shared_ptr<Journal> journal_;
  std::unique_ptr<StagingMemory> memory_;
  std::shared_ptr<StagedBytes> file_;
  SerialQueues queues_;  // destroyed first: its jobs use the other members
};

TEST_F(StagedFiles, HolesAreZeros) {
  write(3u << 20, "end");
  EXPECT_EQ(file_->size(), (3u << 20) + 3);
  EXPECT_EQ(text_of(*file_, (3u << 20) - 2, 10), std::string("\0\0end", 5));
  EXPECT_EQ(text_of(*file_, 5, 3), std::string(3, '\0'));
  EXPECT_EQ(text_of(*file_, file_->size(), 3), "");
  EXPECT_LE(memory_->in_use(), kStagedBlockSize);
}

TEST_F(StagedFiles, ShortFilesTakeLittle) {
  write(0, "abc");
  EXPECT_EQ(memory_->in_use(), 4096u);
  write(3, std::string(10000, 'x'));
  EXPECT_EQ(memory_->in_use(), 12288u);
  write(10003, std::string(3000, 'y'));
  EXPECT_EQ(memory_->in_use(), 24576u) << "a buffer that becomes too small is doubled";
  EXPECT_EQ(budget_->used(), memory_->in_use());
  file_.reset();
  EXPECT_EQ(memory_->in_use(), 0u);
  EXPECT_EQ(budget_->used(), 0u);
}

TEST_F(StagedFiles, WhatWasCutOffDoesNotComeBack) {
  write(0, std::string(2u << 20, 'a'));
  ASSERT_TRUE(file_->journal_dirty());
  ASSERT_TRUE(file_->truncate(10));
  write(20, "b");
  const std::string wanted = std::string(10, 'a') + std::string(10, '\0') + "b";
  EXPECT_EQ(all_of(*file_), wanted);
  ASSERT_TRUE(file_->journal_dirty());
  EXPECT_EQ(after_crash_text(), wanted);
  ASSERT_TRUE(file_->truncate(3u << 20));
  ASSERT_TRUE(file_->journal_dirty());
  EXPECT_EQ(after_crash_text(), wanted + std::string((3u << 20) - 21, '\0'));
  ASSERT_TRUE(file_->truncate(0));
  ASSERT_TRUE(file_->journal_dirty());
  EXPECT_EQ(after_crash_text(), "");
}

TEST_F(StagedFiles, WhatIsCommittedIsNotCutOffInAJournalWrittenAnew) {
  write(0, std::string(100, 'a'));
  ASSERT_TRUE(file_->journal_dirty());
  write(100, std::string(100, 'b'));
  file_->drop_before(150);
  auto fresh = Journal::create_beside(directory_.get(), name_, begin_, ::geteuid(), ::getegid());
  ASSERT_TRUE(fresh);
  auto move = file_->copy_to(*fresh);
  ASSERT_TRUE(move);
  ASSERT_TRUE((*fresh)->take_place());
  (*move)->settle();
  move->reset();
  write(200, "c");
  ASSERT_TRUE(file_->journal_dirty());
  file_.reset();
  journal_.reset();
  fresh->reset();
  const auto replayed = replay();
  ASSERT_TRUE(replayed);
  std::uint64_t size = 0;
  for (const JournalRecord& record : replayed->records) {
    if (record.kind == JournalKind::truncate) {
      EXPECT_GE(record.offset, 150u);
    }
    size = record.kind == JournalKind::data ? std::max(size, record.offset + record.location.size) : record.offset;
  }
  EXPECT_EQ(size, 201u);
}

TEST_F(StagedFiles, OnlyWhatChangedIsJournaled) {
  write(0, std::string(2u << 20, 'a'));
  ASSERT_TRUE(file_->journal_dirty());
  EXPECT_EQ(file_->dirty_bytes(), 0u);
  const auto before = journal_->size();
  ASSERT_TRUE(file_->journal_dirty());
  EXPECT_EQ(journal_->size(), before);
  write(1000, "0123456789");
  EXPECT_EQ(file_->dirty_bytes(), 10u);
  ASSERT_TRUE(file_->journal_dirty());
  EXPECT_EQ(journal_->size(), before + kRecordHeaderSize + 10);
}

TEST_F(StagedFiles, FailedJournalingLeavesItToDo) {
  write(0, std::string(1000, 'a'));
  faults::bytes_left = 500;
  EXPECT_EQ(file_->journal_dirty().error().kind, ErrorKind::no_space);
  EXPECT_EQ(file_->dirty_bytes(), 1000u);
  EXPECT_EQ(all_of(*file_), std::string(1000, 'a'));
  faults::reset();
  ASSERT_TRUE(file_->journal_dirty());
  ASSERT_TRUE(file_->truncate(10));
  faults::bytes_left = 0;
  EXPECT_FALSE(file_->journal_dirty());
  faults::reset();
  ASSERT_TRUE(file_->truncate(20));
  ASSERT_TRUE(file_->journal_dirty());
  EXPECT_EQ(after_crash_text(), std::string(10, 'a') + std::string(10, '\0'));
}

TEST_F(StagedFiles, PinnedBytesStayAsTheyAre) {
  write(0, "hello world");
  const auto pinned = file_->pin(6, 100);
  ASSERT_TRUE(pinned);
  ASSERT_EQ(pinned->pieces.size(), 1u);
  write(6, "earth");
  ASSERT_TRUE(file_->truncate(8));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(pinned->pieces[0].data()), pinned->size()), "world");
  EXPECT_EQ(all_of(*file_), "hello ea");
}

TEST_F(StagedFiles, PinGivesHolesToo) {
  write(2u << 20, "x");
  const auto pinned = file_->pin(1, 3u << 20);
  ASSERT_TRUE(pinned);
  std::string text;
  for (const auto piece : pinned->pieces) text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  EXPECT_EQ(text, std::string((2u << 20) - 1, '\0') + "x");
}

TEST_F(StagedFiles, BeyondTheLimitBlocksGoIntoTheJournal) {
  use_memory(4u << 20);
  std::string wanted;
  for (int i = 0; i < 20; ++i) {
    const std::string block(1u << 20, static_cast<char>('a' + i));
    write(wanted.size(), block);
    wanted += block;
    EXPECT_LE(memory_->in_use(), 4u << 20);
    EXPECT_EQ(budget_->used(), memory_->in_use());
  }
  EXPECT_FALSE(file_->pin(0, 100));
  EXPECT_TRUE(all_of(*file_) == wanted);
  // A spilled block is written to again.
  write(5, "again");
  wanted.replace(5, 5, "again");
  EXPECT_TRUE(all_of(*file_) == wanted);
  EXPECT_LE(memory_->in_use(), 4u << 20);
  ASSERT_TRUE(file_->journal_dirty());
  EXPECT_TRUE(after_crash_text() == wanted);
}

TEST_F(StagedFiles, OldestWritesAreSpilledFirst) {
  use_memory(3u << 20);
  const auto other = StagedBytes::create(2, journal_, *memory_);
  write(0, std::string(1u << 20, 'a'));
  ASSERT_TRUE(write_to(*other, 0, as_bytes(std::string(1u << 20, 'b'))));
  write(0, "A");
  write(1u << 20, std::string(1u << 20, 'c'));
  EXPECT_TRUE(other->pin(0, 10));
  write(2u << 20, "d");
  EXPECT_FALSE(other->pin(0, 10));
  EXPECT_TRUE(file_->pin(0, 10));
}

TEST_F(StagedFiles, WriteNowNeverDoesInputOutput) {
  use_memory(2u << 20);
  EXPECT_TRUE(*file_->write_now(0, as_bytes(std::string(1u << 20, 'a'))));
  EXPECT_TRUE(*file_->write_now(1u << 20, as_bytes(std::string(1u << 20, 'b'))));
  EXPECT_FALSE(*file_->write_now(2u << 20, as_bytes("c")));
  EXPECT_EQ(file_->size(), 2u << 20);
  EXPECT_EQ(*memory_->spill(1u << 20), 1u << 20);
  EXPECT_FALSE(*file_->write_now(5, as_bytes("c")));
  EXPECT_TRUE(*file_->write_now(0, as_bytes(std::string(1u << 20, 'd'))));
  EXPECT_EQ(text_of(*file_, (1u << 20) - 2, 4), "ddbb");
}

// Each write needs a block more than there is room for, and the disk hangs. The writes wait, but no thread does, except
// the one that writes to the journal.
TEST_F(StagedFiles, WhoWaitsForRoomIsAnsweredWhenThereIsSome) {
  use_memory(8u << 20);
  const std::string block(1u << 20, 'a');
  std::vector<std::shared_ptr<StagedBytes>> files;
  for (std::uint64_t id = 2; id < 10; ++id) files.push_back(StagedBytes::create(id, journal_, *memory_));
  for (const auto& file : files) ASSERT_TRUE(write_to(*file, 0, as_bytes(block)));
  faults::hold_writes();
  std::vector<std::unique_ptr<Write>> writes;
  for (const auto& file : files) writes.push_back(std::make_unique<Write>(*file, 1u << 20, block));
  for (const auto& file : files) writes.push_back(std::make_unique<Write>(*file, std::nullopt, "end"));
  faults::wait_for_held_write();
  for (const auto& write : writes) EXPECT_FALSE(write->is_answered());
  faults::release_writes();
  for (const auto& write : writes) EXPECT_TRUE(write->wait());
  for (const auto& file : files) EXPECT_TRUE(all_of(*file) == block + block + "end");
  EXPECT_LE(memory_->in_use(), 8u << 20);
}

TEST_F(StagedFiles, WhatWaitsIsWrittenInOrder) {
  write(0, "0123456789");
  file_->freeze();
  Write first(*file_, 0, "aaaaaaaaaa"), second(*file_, 3, "bbb"), end(*file_, std::nullopt, "cc"),
      last(*file_, 11, "d");
  EXPECT_FALSE(*file_->write_now(20, as_bytes("behind those that wait")));
  EXPECT_EQ(all_of(*file_), "0123456789");
  file_->thaw();
  EXPECT_EQ(*first.wait(), 0u);
  EXPECT_EQ(*second.wait(), 3u);
  EXPECT_EQ(*end.wait(), 10u);
  EXPECT_EQ(*last.wait(), 11u);
  EXPECT_EQ(all_of(*file_), "aaabbbaaaacd");
}

TEST_F(StagedFiles, WhatNobodyWaitsForIsGivenUp) {
  write(0, "0123456789");
  file_->freeze();
  Write first(*file_, 0, "a"), second(*file_, 1, "b");
  first.interrupt();
  file_->thaw();
  EXPECT_EQ(first.wait().error().system_errno, ECANCELED);
  EXPECT_TRUE(second.wait());
  EXPECT_EQ(all_of(*file_), "0b23456789");
}

TEST_F(StagedFiles, WhatStillWaitsAtTheEndIsAnswered) {
  write(0, "0123456789");
  file_->freeze();
  Write first(*file_, 0, "a"), second(*file_, 1, "b");
  std::promise<Result<void>> cut;
  file_->when_thawed(5, Reply<void>([&](Result<void> result) { cut.set_value(std::move(result)); }));
  queues_.stop();
  file_->thaw();
  EXPECT_EQ(first.wait().error().kind, ErrorKind::io);
  EXPECT_EQ(second.wait().error().kind, ErrorKind::io);
  EXPECT_FALSE(cut.get_future().get());
  EXPECT_EQ(all_of(*file_), "0123456789");
}

// While the buffers of an append are made, another one moves it to fewer blocks. Where locks are checked, giving back
// the buffer that it no longer needs under the lock of the file would end the process.
TEST_F(StagedFiles, AnAppendThatMovesNeedsFewerBlocks) {
  const std::string begin(kStagedBlockSize - 10, 'a');
  const auto budget = std::make_shared<Budget>(begin.size());
  bool moves = false;
  budget->set_evictor([&](std::uint64_t, Budget::Evict) {
    if (!std::exchange(moves, false)) return;
    EXPECT_TRUE(write_to(*file_, std::nullopt, as_bytes("0123456789")));
  });
  memory_ = std::make_unique<StagingMemory>(budget, 64u << 20, queues_);
  file_ = StagedBytes::create(1, journal_, *memory_);
  write(0, begin);
  const auto reader = file_->pin(0, 10);  // a pinned block is copied: it needs a buffer as the next one does
  moves = true;
  ASSERT_TRUE(write_to(*file_, std::nullopt, as_bytes("01234567890123456789")));
  EXPECT_FALSE(moves);
  EXPECT_EQ(all_of(*file_), begin + "012345678901234567890123456789");
  file_.reset();
}

// Every byte appended by two threads is kept, whichever of them waits.
TEST_F(StagedFiles, AppendsDoNotWriteOverEachOther) {
  use_memory(2u << 20);
  constexpr std::size_t kThreads = 4, kPieces = 50, kPiece = 30'000;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const std::string piece(kPiece, static_cast<char>('a' + t));
      for (std::size_t i = 0; i < kPieces; ++i) ASSERT_TRUE(write_to(*file_, std::nullopt, as_bytes(piece)));
    });
  for (auto& thread : threads) thread.join();
  const std::string all = all_of(*file_);
  ASSERT_EQ(all.size(), kThreads * kPieces * kPiece);
  for (std::size_t t = 0; t < kThreads; ++t)
    EXPECT_EQ(std::count(all.begin(), all.end(), static_cast<char>('a' + t)), std::ptrdiff_t{kPieces * kPiece});
}

TEST_F(StagedFiles, FullDiskReachesTheWriter) {
  use_memory(1u << 20);
  write(0, std::string(1u << 20, 'a'));
  faults::bytes_left = 1000;
  const auto refused = write_to(*file_, 1u << 20, as_bytes("b"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::no_space);
  EXPECT_TRUE(all_of(*file_) == std::string(1u << 20, 'a'));
  faults::reset();
  write(1u << 20, "b");
  EXPECT_TRUE(all_of(*file_) == std::string(1u << 20, 'a') + "b");
}

TEST_F(StagedFiles, CommittedBytesAreLetGo) {
  write(0, std::string(5u << 20, 'a'));
  file_->drop_before((2u << 20) + 5);
  EXPECT_EQ(memory_->in_use(), 3u << 20);
  EXPECT_EQ(text_of(*file_, (2u << 20) + 5, 2), "aa");
  EXPECT_EQ(write_to(*file_, 2u << 20, as_bytes("b")).error().system_errno, EPERM);
  EXPECT_EQ(file_->truncate(10).error().system_errno, EPERM);
  std::byte one;
  EXPECT_EQ(file_->read(10, {&one, 1}).error().kind, ErrorKind::denied);
  write(5u << 20, "b");
}

TEST_F(StagedFiles, OffsetsThatCannotBe) {
  EXPECT_EQ(write_to(*file_, ~0ull, as_bytes("a")).error().system_errno, EFBIG);
  EXPECT_EQ(file_->write_now((1ull << 63) - 1, as_bytes("a")).error().system_errno, EFBIG);
  EXPECT_EQ(file_->truncate(1ull << 63).error().system_errno, EFBIG);
  EXPECT_EQ(file_->restore(~0ull - 1, {0, 100}).error().kind, ErrorKind::damaged);
  write((1ull << 63) - 2, "a");
  EXPECT_EQ(file_->size(), (1ull << 63) - 1);
}

// Random operations on three files, compared with strings, with little memory. After a crash, the files must be in the
// state of the last journaling, or a later one.
TEST_F(StagedFiles, BehaveAsFilesDo) {
  const auto seed = testing::UnitTest::GetInstance()->random_seed() + 17u;
  SCOPED_TRACE("seed " + std::to_string(seed));
  use_memory(3u << 20);
  std::mt19937 random(static_cast<unsigned>(seed));
  const auto below = [&](std::size_t n) { return random() % n; };
  std::map<std::uint64_t, std::shared_ptr<StagedBytes>> files;
  std::map<std::uint64_t, std::string> wanted;
  for (std::uint64_t id = 1; id <= 3; ++id) files[id] = StagedBytes::create(id, journal_, *memory_);
  for (int step = 0; step < 600; ++step) {
    const std::uint64_t id = 1 + below(3);
    std::string& text = wanted[id];
    switch (below(8)) {
      case 0:
      case 1:
      case 2: {
        const std::size_t offset = below(4) == 0 ? below(4u << 20) : text.size();
        const std::string piece(below(3) == 0 ? below(1u << 20) : below(300), static_cast<char>('a' + below(26)));
        if (below(2) == 0) {
          ASSERT_TRUE(write_to(*files[id], offset, as_bytes(piece)));
        } else {
          const auto taken = files[id]->write_now(offset, as_bytes(piece));
          ASSERT_TRUE(taken);
          if (!*taken) break;
        }
        if (piece.empty()) break;
        text.resize(std::max(text.size(), offset + piece.size()), '\0');
        text.replace(offset, piece.size(), piece);
        break;
      }
      case 3: {
        const std::size_t size = below(3) == 0 ? below(4u << 20) : text.size() - std::min(text.size(), below(1000));
        ASSERT_TRUE(files[id]->truncate(size));
        text.resize(size, '\0');
        break;
      }
      case 4: {
        const std::size_t offset = text.empty() ? 0 : below(text.size());
        ASSERT_TRUE(text_of(*files[id], offset, 5000) == text.substr(offset, 5000)) << step;
        break;
      }
      case 5:
        ASSERT_TRUE(files[id]->journal_dirty());
        break;
      case 6:
        if (below(4) == 0) {
          for (auto& [each, file] : files) {
            ASSERT_TRUE(file->journal_dirty());
          }
          auto back = after_crash();
          for (auto& [each, expected] : wanted) {
            if (expected.empty() && !back[each]) continue;
            ASSERT_TRUE(back[each]);
            ASSERT_TRUE(all_of(*back[each]) == expected) << step;
          }
        }
        break;
      default:
        ASSERT_TRUE(memory_->spill(below(1u << 20)));
    }
    ASSERT_EQ(files[id]->size(), text.size());
    ASSERT_LE(memory_->in_use(), 3u << 20);
  }
  for (auto& [id, text] : wanted) EXPECT_TRUE(all_of(*files[id]) == text);
}

TEST_F(StagedFiles, ManyThreadsWriteAndSpill) {
  use_memory(2u << 20);
  constexpr std::size_t kThreads = 4, kPieces = 200, kPiece = 20000;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kPieces; ++i) {
        const std::uint64_t offset = (i * kThreads + t) * kPiece;
        const std::string piece(kPiece, static_cast<char>('a' + (i + t) % 26));
        ASSERT_TRUE(write_to(*file_, offset, as_bytes(piece)));
        ASSERT_TRUE(text_of(*file_, offset, kPiece) == piece);
        ASSERT_TRUE(i % 20 > 0 || file_->journal_dirty());
      }
    });
  for (auto& thread : threads) thread.join();
  std::string wanted;
  for (std::size_t i = 0; i < kPieces; ++i)
    for (std::size_t t = 0; t < kThreads; ++t) wanted.append(kPiece, static_cast<char>('a' + (i + t) % 26));
  EXPECT_TRUE(all_of(*file_) == wanted);
  ASSERT_TRUE(file_->journal_dirty());
  EXPECT_TRUE(after_crash_text() == wanted);
}

}  // namespace
}  // namespace tfilefs
