// SPDX-License-Identifier: Apache-2.0
#include "staging/changes/recovery.h"

#include <gtest/gtest.h>

#include "fs/staging/journal_directory.h"
#include "staging/changes/date_record.h"
#include "staging/overlay/staged_tree.h"

namespace tfilefs {
namespace {

std::vector<std::byte> head_of(char state) { return std::vector<std::byte>(300, static_cast<std::byte>(state)); }

JournalRecord begins_with(char state) { return begin_record({{1, 2, 3}, 4711, head_of(state)}); }

// A column of one new table, and a commit of all its bytes.
class Recovery : public JournalDirectory {
 protected:
  void SetUp() override {
    JournalDirectory::SetUp();
    begin_.head = head_of('a');
    auto journal = create().value();
    add({.kind = JournalKind::create, .id = 1, .file_kind = StagedKind::directory, .text = "New"});
    add({.kind = JournalKind::create, .id = 2, .file_kind = StagedKind::column, .text = "New/x.i8"});
    add({.kind = JournalKind::data, .id = 2, .location = {1, 8}});
    add({.kind = JournalKind::intend, .intention = {head_of('a'), head_of('b'), {}, {{2, 8}}, {"New"}, {}, {}}});
    journal_ = std::move(journal);
  }
  void add(JournalRecord record) { records_.push_back(std::move(record)); }

  // Whether the column is still to be committed.
  bool is_staged(bool last_took_place) {
    StagingMemory memory(std::make_shared<Budget>(0), 0, queues_);
    root_ = std::make_shared<StagedNode>(0, true, "", nullptr);
    auto restored = restore_tree(root_, records_, last_took_place, nullptr, [&](std::uint64_t id, std::uint64_t base) {
      auto bytes = StagedBytes::create(id, journal_, memory);
      EXPECT_TRUE(bytes->truncate(base));
      return bytes;
    });
    EXPECT_TRUE(restored);
    if (restored) restored_ = *std::move(restored);
    const bool staged = root_->children.contains("New") && !root_->children.at("New")->children.empty();
    root_.reset();
    return staged;
  }

  SerialQueues queues_;
  std::shared_ptr<Journal> journal_;
  std::vector<JournalRecord> records_;
  NodePtr root_;
  RestoredTree restored_;
};

TEST_F(Recovery, TheFileTellsOfTheLastIntention) {
  EXPECT_TRUE(is_staged(false));
  EXPECT_EQ(last_of_commits(records_), &records_[3]);
  EXPECT_FALSE(is_staged(true));
  EXPECT_EQ(restored_.head, head_of('b'));
}

TEST_F(Recovery, ABeginBehindItTells) {
  add(begins_with('b'));
  EXPECT_FALSE(is_staged(false)) << "the file began as the commit had left it";
  EXPECT_EQ(last_of_commits(records_), nullptr) << "the file is not to be mended by an older intention";
  records_.back() = begins_with('f');
  EXPECT_TRUE(is_staged(true)) << "another program had written it, from the state before";
  EXPECT_EQ(restored_.head, head_of('f'));
  add({.kind = JournalKind::intend, .intention = {head_of('f'), head_of('g'), {}, {{2, 8}}, {"New"}, {}, {}}});
  EXPECT_TRUE(is_staged(false));
  EXPECT_FALSE(is_staged(true));
  EXPECT_EQ(restored_.head, head_of('g'));
}

TEST_F(Recovery, WhatWasDoneIsDoneWhateverFollows) {
  add({.kind = JournalKind::done});
  add(begins_with('f'));
  EXPECT_FALSE(is_staged(false));
  EXPECT_EQ(restored_.head, head_of('f'));
}

TEST_F(Recovery, TheLastBeginIsWhatTheJournalBuildsOn) {
  ASSERT_TRUE(journal_->append(begins_with('f')));
  const auto found = replay(Journal::Use::read);
  ASSERT_FALSE(found) << "it is being written";
  journal_.reset();
  const auto replayed = replay();
  ASSERT_TRUE(replayed);
  EXPECT_EQ(replayed->begin.head, head_of('f'));
}

TEST(DateRecord, KeepsDatesOnBothSidesOfTheEpoch) {
  StagedNode node(7, false, "x.f4", nullptr);
  node.attributes.time_was_set = true;
  for (const timespec date :
       {timespec{0, 0}, timespec{-1, 5}, timespec{950'486'400, 999'999'999}, timespec{-86400, 0}}) {
    node.attributes.modified = date;
    const timespec kept = date_of(date_record(node));
    EXPECT_EQ(kept.tv_sec, date.tv_sec);
    EXPECT_EQ(kept.tv_nsec, date.tv_nsec);
  }
  node.attributes.modified = {std::int64_t{1} << 40, 0};
  EXPECT_EQ(date_record(node).offset, kNoDate) << "no such number of nanoseconds";
}

TEST(DateRecord, TakesAnyNumber) {
  for (const std::uint64_t number : {kNoDate, kNoDate + 1, kNoDate - 1, ~std::uint64_t{0}}) {
    JournalRecord record;
    record.offset = number;
    const timespec date = date_of(record);
    EXPECT_GE(date.tv_nsec, 0);
    EXPECT_LT(date.tv_nsec, 1'000'000'000);
  }
}

}  // namespace
}  // namespace tfilefs
