// SPDX-License-Identifier: Apache-2.0
#include "staging/journal/journal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "fs/staging/journal_directory.h"

namespace tfilefs {
namespace {

using Journals = JournalDirectory;

std::vector<std::byte> pattern(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(seed * 31 + i * 7 + i / 256);
  return bytes;
}

// One record of every kind, in a possible order.
std::vector<JournalRecord> every_kind() {
  return {
      {.kind = JournalKind::create, .id = 1, .file_kind = StagedKind::directory, .text = "Events"},
      {.kind = JournalKind::create, .id = 2, .file_kind = StagedKind::column, .text = "Events/px.f4"},
      {.kind = JournalKind::data, .id = 2, .offset = 100, .bytes = pattern(300, 1)},
      {.kind = JournalKind::rename, .id = 2, .text = "Events/p\xff.f4"},
      {.kind = JournalKind::rename, .text = "Tables/Events", .from = "Events"},
      {.kind = JournalKind::truncate, .id = 2, .offset = 50},
      {.kind = JournalKind::title, .id = 2, .text = "momentum"},
      {.kind = JournalKind::encoding, .id = 2, .text = "real16"},
      {.kind = JournalKind::class_name, .id = 2, .text = "std::pair<int,float>"},
      {.kind = JournalKind::date, .id = 2, .offset = 950'486'400'000'000'007, .size = 50},
      {.kind = JournalKind::whiteout, .text = "old;1"},
      {.kind = JournalKind::data, .id = 2, .offset = 0, .bytes = {}},
      {.kind = JournalKind::intend,
       .intention = {pattern(300, 2),
                     pattern(310, 4),
                     {{4711, pattern(4, 5)}},
                     {{2, 300}, {1, 0}},
                     {"Events"},
                     {"a", "a/b"},
                     {"", "old;1"}}},
      {.kind = JournalKind::remove, .id = 2},
      {.kind = JournalKind::remove, .text = "Tables/Events"},
  };
}

void append_all(Journal& journal, const std::vector<JournalRecord>& records) {
  for (const JournalRecord& record : records) {
    if (record.kind == JournalKind::data) {
      ASSERT_TRUE(journal.append_data(record.id, record.offset, record.bytes));
    } else {
      ASSERT_TRUE(journal.append(record));
    }
  }
}

void expect_same(const Replayed& replayed, std::size_t i, const JournalRecord& wanted) {
  const JournalRecord& got = replayed.records.at(i);
  EXPECT_EQ(got.kind, wanted.kind);
  EXPECT_EQ(got.id, wanted.id);
  EXPECT_EQ(got.offset, wanted.offset);
  EXPECT_EQ(got.size, wanted.size);
  EXPECT_EQ(got.text, wanted.text);
  EXPECT_EQ(got.from, wanted.from);
  EXPECT_EQ(got.intention, wanted.intention);
  EXPECT_EQ(got.file_kind, wanted.file_kind);
  if (wanted.kind != JournalKind::data) {
    EXPECT_EQ(got.bytes, wanted.bytes);
    return;
  }
  ASSERT_EQ(got.location.size, wanted.bytes.size());
  std::vector<std::byte> bytes(got.location.size);
  ASSERT_TRUE(replayed.journal->read(got.location, bytes));
  EXPECT_EQ(bytes, wanted.bytes);
}

TEST_F(Journals, EveryRecordComesBack) {
  const auto records = every_kind();
  {
    const auto journal = create();
    ASSERT_TRUE(journal);
    append_all(**journal, records);
    ASSERT_TRUE((*journal)->sync());
  }
  const auto replayed = replay();
  ASSERT_TRUE(replayed) << replayed.error().text;
  EXPECT_EQ(replayed->begin.file_uuid, begin_.file_uuid);
  EXPECT_EQ(replayed->begin.file_end, 4711);
  EXPECT_EQ(replayed->cut, "");
  ASSERT_EQ(replayed->records.size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i) expect_same(*replayed, i, records[i]);
  EXPECT_EQ(replayed->journal->append(records[0]).error().kind, ErrorKind::denied);
}

TEST_F(Journals, DataIsReadWhereItWasWritten) {
  const auto journal = *create();
  const auto bytes = pattern(2 << 20, 3);
  const auto location = journal->append_data(7, 0, bytes);
  ASSERT_TRUE(location);
  std::vector<std::byte> got(1000);
  ASSERT_TRUE(journal->read({location->begin + 12345, 1000}, got));
  EXPECT_EQ(std::memcmp(got.data(), bytes.data() + 12345, got.size()), 0);
  EXPECT_EQ(journal->read({location->end(), 1}, std::span(got).first(1)).error().kind, ErrorKind::invalid);
  EXPECT_EQ(journal->append_data(7, 0, pattern(kPayloadMax + 1, 0)).error().kind, ErrorKind::invalid);
}

// A crash may leave any beginning of the file. The replay then gives the first records, and the journal continues after
// them.
TEST_F(Journals, EveryBeginningReplays) {
  const auto records = every_kind();
  std::size_t begun = 0;
  {
    const auto journal = *create();
    begun = journal->size();
    append_all(*journal, records);
  }
  const std::string whole = bytes();
  std::size_t last = 0;
  for (std::size_t size = begun; size <= whole.size(); ++size) {
    set_bytes(whole.substr(0, size));
    const auto replayed = replay(Journal::Use::take_over);
    ASSERT_TRUE(replayed) << size;
    ASSERT_GE(replayed->records.size(), last);
    last = replayed->records.size();
    if (last > 0) expect_same(*replayed, last - 1, records[last - 1]);
    ASSERT_TRUE(replayed->journal->append({.kind = JournalKind::whiteout, .text = "after"}));
    ASSERT_EQ(std::filesystem::file_size(file()), replayed->journal->size());
  }
  EXPECT_EQ(last, records.size());
}

TEST_F(Journals, GoesOnBehindATornEnd) {
  {
    const auto journal = *create();
    append_all(*journal, every_kind());
  }
  const std::string whole = bytes();
  set_bytes(whole.substr(0, whole.size() - 5) + std::string(3000, 'x'));
  {
    const auto replayed = replay(Journal::Use::take_over);
    ASSERT_TRUE(replayed);
    EXPECT_NE(replayed->cut, "");
    ASSERT_TRUE(replayed->journal->append({.kind = JournalKind::whiteout, .text = "after"}));
  }
  const auto again = replay();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->cut, "");
  ASSERT_EQ(again->records.size(), every_kind().size());
  EXPECT_EQ(again->records.back().text, "after");
}

// After a flip of any bit, the replay gives the records before it, and never a wrong one.
TEST_F(Journals, NoDamagedRecordIsBelieved) {
  const auto records = every_kind();
  {
    const auto journal = *create();
    append_all(*journal, records);
  }
  const std::string whole = bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (at >= kJournalPidOffset && at < kJournalPidOffset + 4) continue;
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    set_bytes(damaged);
    const auto replayed = replay();
    if (!replayed) continue;
    ASSERT_LT(replayed->records.size(), records.size()) << at;
    ASSERT_NE(replayed->cut, "") << at;
    for (std::size_t i = 0; i < replayed->records.size(); ++i) expect_same(*replayed, i, records[i]);
  }
}

// Staged bytes may themselves be a journal, whose records must not be replayed.
TEST_F(Journals, StagedJournalIsNotReplayed) {
  {
    const auto journal = *create();
    ASSERT_TRUE(journal->append({.kind = JournalKind::whiteout, .text = "x"}));
  }
  const std::string record = bytes().substr(bytes().size() - (kRecordHeaderSize + 5));
  set_bytes(bytes() + record);
  const auto replayed = replay();
  ASSERT_TRUE(replayed);
  EXPECT_EQ(replayed->records.size(), 1u);
  EXPECT_NE(replayed->cut, "");
}

TEST_F(Journals, OneWriterAtATime) {
  const auto journal = create();
  ASSERT_TRUE(journal);
  for (const auto use : {Journal::Use::read, Journal::Use::take_over}) {
    const auto other = replay(use);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().kind, ErrorKind::busy);
    EXPECT_NE(other.error().text.find("process " + std::to_string(::getpid())), std::string::npos)
        << other.error().text;
  }
  EXPECT_EQ(create().error().kind, ErrorKind::busy);
}

TEST_F(Journals, LeftOneIsTakenOver) {
  { ASSERT_TRUE(create()); }
  EXPECT_EQ(create().error().kind, ErrorKind::exists);
  const auto reader = replay();
  ASSERT_TRUE(reader);
  const auto writer = replay(Journal::Use::take_over);
  ASSERT_TRUE(writer) << writer.error().text;
  EXPECT_EQ(create().error().kind, ErrorKind::busy);
  ASSERT_TRUE(writer->journal->remove());
  EXPECT_FALSE(std::filesystem::exists(file()));
  ASSERT_TRUE(writer->journal->remove());
  EXPECT_EQ(replay().error().kind, ErrorKind::not_found);
}

TEST_F(Journals, WhoOnlyReadsStopsNoWriter) {
  {
    const auto journal = *create();
    for (int i = 0; i < 2000; ++i)
      ASSERT_TRUE(journal->append({.kind = JournalKind::title, .id = 1, .text = std::string(1000, 't')}));
  }
  std::atomic<bool> over = false;
  std::thread reader([&] {
    while (!over) (void)replay();
  });
  for (int i = 0; i < 30; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto writer = replay(Journal::Use::take_over);
    EXPECT_TRUE(writer) << writer.error().text;
  }
  over = true;
  reader.join();
  EXPECT_TRUE(replay());
}

TEST_F(Journals, RemovesOnlyItsOwnName) {
  const auto journal = *create();
  std::filesystem::rename(file(), path_ / "elsewhere");
  set_bytes("another's");
  ASSERT_TRUE(journal->remove());
  EXPECT_EQ(bytes(), "another's");
}

// A directory that was copied as links has the journal, too.
TEST_F(Journals, OneWithOtherNamesPromisesNothingWhenItGoes) {
  auto journal = *create();
  append_all(*journal, every_kind());
  ASSERT_TRUE(journal->sync());
  EXPECT_FALSE(journal->has_other_names());
  std::filesystem::create_hard_link(file(), path_ / "elsewhere");
  EXPECT_TRUE(journal->has_other_names());
  ASSERT_TRUE(journal->remove());
  EXPECT_FALSE(std::filesystem::exists(file()));
  journal.reset();
  std::filesystem::rename(path_ / "elsewhere", file());
  EXPECT_EQ(replay().error().kind, ErrorKind::not_found);
}

TEST_F(Journals, TellsWhetherThereIsOne) {
  EXPECT_TRUE(Journal::check_none(directory_.get(), name_));
  {
    const auto journal = *create();
    const auto none = Journal::check_none(directory_.get(), name_);
    EXPECT_EQ(none.error().kind, ErrorKind::busy);
    EXPECT_EQ(none.error().text, "process " + std::to_string(::getpid()) + " is writing this file");
  }
  EXPECT_EQ(Journal::check_none(directory_.get(), name_).error().kind, ErrorKind::exists);
}

TEST_F(Journals, RefusesWhatIsNotItsOwn) {
  set_bytes("something else of more than sixty-four bytes, which nobody would take for a journal");
  EXPECT_EQ(replay().error().kind, ErrorKind::damaged);
  std::filesystem::remove(file());
  std::filesystem::create_symlink("/etc/passwd", file());
  EXPECT_EQ(replay().error().kind, ErrorKind::denied);
  EXPECT_EQ(create().error().kind, ErrorKind::denied);
  std::filesystem::remove(file());
  std::filesystem::create_directory(file());
  EXPECT_EQ(replay().error().kind, ErrorKind::denied);
  std::filesystem::remove(file());
  { ASSERT_TRUE(create()); }
  EXPECT_EQ(Journal::replay(directory_.get(), name_, ::geteuid() + 1, Journal::Use::read).error().kind,
            ErrorKind::denied);
  std::string newer = bytes();
  newer[16] = 2;
  set_bytes(newer);
  EXPECT_EQ(replay().error().kind, ErrorKind::unsupported);
}

// A crash before the first sync leaves a name without bytes, or zeros. Nothing was promised yet.
TEST_F(Journals, NeverBegunIsAsIfNotThere) {
  { ASSERT_TRUE(create()); }
  const std::string whole = bytes();
  for (const std::string& left : {std::string(), std::string(5000, '\0'), whole.substr(0, 40)}) {
    set_bytes(left);
    EXPECT_EQ(replay().error().kind, ErrorKind::not_found);
    EXPECT_TRUE(std::filesystem::exists(file()));
    EXPECT_EQ(replay(Journal::Use::take_over).error().kind, ErrorKind::not_found);
    EXPECT_FALSE(std::filesystem::exists(file()));
  }
  EXPECT_TRUE(create());
}

// Each sector of it may have reached the disk or not, and what lies behind the last one that has is cut off.
TEST_F(Journals, NoSectorsOfAFirstRecordPromiseAnything) {
  constexpr std::size_t kSector = 512;
  begin_.head = pattern(1000, 7);
  { ASSERT_TRUE(create()); }
  const std::string whole = bytes();
  const std::size_t sectors = (whole.size() + kSector - 1) / kSector;
  ASSERT_GT(sectors, 2u);
  for (unsigned there = 0; there + 1 < 1u << sectors; ++there) {
    for (std::size_t end = 0; end <= sectors; ++end) {
      std::string left = whole.substr(0, end * kSector);
      for (std::size_t i = 0; i < end; ++i)
        if ((there >> i & 1) == 0)
          left.replace(i * kSector, kSector, std::min(kSector, left.size() - i * kSector), '\0');
      if (left == whole) continue;
      set_bytes(left);
      EXPECT_EQ(replay(Journal::Use::take_over).error().kind, ErrorKind::not_found) << there << " of " << end;
      EXPECT_FALSE(std::filesystem::exists(file()));
    }
  }
  // With a record behind it the first one was synced: this is damage, which is told.
  set_bytes(whole.substr(0, kSector) + std::string(4096, 'x'));
  EXPECT_EQ(replay(Journal::Use::take_over).error().kind, ErrorKind::damaged);
  EXPECT_TRUE(std::filesystem::exists(file()));
}

TEST_F(Journals, IsItsOwnersAlone) {
  ASSERT_TRUE(create());
  EXPECT_EQ(std::filesystem::status(file()).permissions(), std::filesystem::perms(0600));
}

TEST_F(Journals, ShortWritesAndInterruptionsAreGoneThrough) {
  const auto records = every_kind();
  faults::largest_write = 7;
  faults::interruptions = 20;
  {
    const auto journal = create();
    ASSERT_TRUE(journal);
    append_all(**journal, records);
  }
  const auto replayed = replay();
  ASSERT_TRUE(replayed);
  ASSERT_EQ(replayed->records.size(), records.size());
  for (std::size_t i = 0; i < records.size(); ++i) expect_same(*replayed, i, records[i]);
}

TEST_F(Journals, FullDiskIsSaidAndGoneOver) {
  const auto journal = *create();
  for (std::int64_t left = 0; left < 300; left += 20) {
    faults::bytes_left = left;
    const auto refused = journal->append_data(1, 0, pattern(1000, 1));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::no_space);
    EXPECT_EQ(refused.error().system_errno, ENOSPC);
  }
  faults::reset();
  ASSERT_TRUE(journal->append({.kind = JournalKind::whiteout, .text = "x"}));
  const auto copy = bytes();
  std::filesystem::remove(file());
  set_bytes(copy);
  const auto replayed = replay();
  ASSERT_TRUE(replayed);
  EXPECT_EQ(replayed->records.size(), 1u);
}

TEST_F(Journals, FailedSyncIsForEver) {
  const auto journal = *create();
  const auto kept = *journal->append_data(1, 0, pattern(100, 1));
  ASSERT_TRUE(journal->sync());
  const auto lost = *journal->append_data(1, 100, pattern(100, 2));
  std::vector<std::byte> got(100);
  ASSERT_TRUE(journal->read(lost, got));
  faults::failing_syncs = 1;
  EXPECT_EQ(journal->sync().error().system_errno, EIO);
  EXPECT_EQ(journal->sync().error().system_errno, EIO);
  EXPECT_EQ(journal->append({.kind = JournalKind::remove, .id = 1}).error().system_errno, EIO);
  EXPECT_EQ(journal->read(lost, got).error().system_errno, EIO);
  ASSERT_TRUE(journal->read(kept, got));
  EXPECT_EQ(got, pattern(100, 1));
}

TEST_F(Journals, SyncsOnlyWhatIsNew) {
  const auto journal = *create();
  EXPECT_EQ(faults::syncs, 1);
  ASSERT_TRUE(journal->sync());
  EXPECT_EQ(faults::syncs, 1);
  ASSERT_TRUE(journal->append({.kind = JournalKind::remove, .id = 1}));
  ASSERT_TRUE(journal->sync());
  ASSERT_TRUE(journal->sync());
  EXPECT_EQ(faults::syncs, 2);
}

TEST_F(Journals, SpaceIsPromisedOrRefused) {
  const auto journal = *create();
  ASSERT_TRUE(journal->preallocate(1 << 20));
  EXPECT_EQ(std::filesystem::file_size(file()), journal->size());
  faults::bytes_left = 1000;
  const auto refused = journal->preallocate(1001);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::no_space);
}

TEST_F(Journals, ManyThreadsAppendAndSync) {
  const auto journal = *create();
  constexpr int kThreads = 4, kRecords = 50;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < kRecords; ++i) {
        const auto bytes = pattern(1000 + t, t + i);
        const auto location = journal->append_data(t, i, bytes);
        ASSERT_TRUE(location);
        ASSERT_TRUE(i % 10 > 0 || journal->sync());
        std::vector<std::byte> got(bytes.size());
        ASSERT_TRUE(journal->read(*location, got));
        ASSERT_EQ(got, bytes);
      }
    });
  for (auto& thread : threads) thread.join();
  const std::string copy = bytes();
  ASSERT_TRUE(journal->remove());
  set_bytes(copy);
  const auto replayed = replay();
  ASSERT_TRUE(replayed);
  ASSERT_EQ(replayed->records.size(), kThreads * kRecords);
  std::vector<std::uint64_t> next(kThreads, 0);
  for (const JournalRecord& record : replayed->records) EXPECT_EQ(record.offset, next.at(record.id)++);
}

}  // namespace
}  // namespace tfilefs
