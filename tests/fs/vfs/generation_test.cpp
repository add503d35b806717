// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/generation.h"

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <thread>

#include "fake_file.h"

namespace tfilefs {
namespace {

std::shared_ptr<FakeFile> with_numbers(const std::vector<std::int32_t>& numbers) {
  auto table = std::make_shared<ArrayTable>();
  table->column(0, "n.i4", tfile::Role::values, numbers);
  auto file = std::make_shared<FakeFile>();
  file->table("t", table);
  return file;
}

Result<Attributes> getattr(FakeMount& mount, InodeId id) {
  return FakeMount::wait<Attributes>([&](auto reply) { mount.fs->getattr(id, std::move(reply)); });
}

// Waits until the last answer about the source is too old to be trusted.
void wait_until_not_recent() { std::this_thread::sleep_for(MountedFile::kRecent + std::chrono::milliseconds(50)); }

// Files that were used, and to which nothing refers any more.
class KeptFiles : public testing::Test {
 protected:
  std::weak_ptr<const Generation> use(std::size_t memory) {
    auto file = std::make_shared<FakeFile>();
    file->memory_told = memory;
    const auto made = std::make_shared<const Generation>(
        context_, nullptr, GuardedSource::guard(file->shared_source()).value(), file, SourceState{});
    context_.recent.keep(made);
    return made;
  }

  static constexpr std::uint64_t kMemory = 64 << 20;
  std::unique_ptr<ClusterCache> cache_ =
      std::make_unique<ClusterCache>(CacheOptions{.memory = kMemory, .threads = 1, .io_threads = 1});
  ErrorLog errors_;
  MountContext context_{*cache_, errors_, {}};
};

TEST_F(KeptFiles, StayAsFarAsTheirMemoryGoes) {
  std::vector<std::weak_ptr<const Generation>> files;
  for (int i = 0; i < 20; ++i) files.push_back(use(kMemory / 80));  // an eighth of the memory holds ten of them
  EXPECT_EQ(context_.recent.count(), 10u);
  EXPECT_TRUE(files[9].expired());
  EXPECT_FALSE(files[10].expired());
  for (int i = 0; i < 3; ++i) use(kMemory);
  EXPECT_EQ(context_.recent.count(), 4u) << "the last few stay, whatever they take";
  context_.recent.clear();
  EXPECT_TRUE(files.back().expired());
}

TEST_F(KeptFiles, OfSmallOnesThereAreMany) {
  for (int i = 0; i < 300; ++i) use(1000);
  EXPECT_EQ(context_.recent.count(), 256u);
}

TEST_F(KeptFiles, TablesCount) {
  const auto first = use(0);
  for (int i = 0; i < 4; ++i) use(0);
  EXPECT_EQ(context_.recent.count(), 5u);
  first.lock()->note_memory(kMemory);
  context_.recent.keep(first.lock());
  EXPECT_EQ(context_.recent.count(), 4u);
}

// A file that was opened while a commit wrote its parts stays readable in that state, like one opened before.
TEST_F(KeptFiles, WhatIsOpenedDuringACommitStaysReadable) {
  auto disk = std::make_shared<FakeDisk>();
  auto before = with_numbers({1});
  disk->file = before;
  const auto file = std::make_shared<MountedFile>(context_, std::make_unique<FakeOrigin>(disk), "");
  const auto look = [&] {
    return FakeMount::wait<GenerationPtr>([&](auto reply) { file->current(Freshness::now, std::move(reply)); }).value();
  };
  const auto read = [](const Generation& generation) {
    std::array<std::byte, 4> bytes;
    return tfile::read_range(*generation.source, {0, bytes.size()}, bytes);
  };
  file->expect_commit();
  const GenerationPtr opened = look();
  file->expect_switch();
  before->bytes->state = {.size = 500, .modified_ns = 7};  // differs from the state after mere appending
  EXPECT_TRUE(read(*opened));
  const auto after = with_numbers({1, 2});
  disk->put(after);
  before->bytes->state = after->bytes->state;
  file->supersede();
  EXPECT_TRUE(read(*opened));
  EXPECT_NE(look(), opened);
  before->bytes->state.modified_ns = 99;
  EXPECT_EQ(read(*opened).error().kind, ErrorKind::stale) << "another program changed what the commit had left";

  const GenerationPtr next = look();
  file->expect_commit();
  file->expect_no_commit();
  disk->file->bytes->state.size = 400;
  EXPECT_EQ(read(*next).error().kind, ErrorKind::stale) << "no commit changed it";
}

// A file that takes long to open.
class SlowOrigin final : public FakeOrigin {
 public:
  using FakeOrigin::FakeOrigin;
  Result<std::shared_ptr<const GuardedSource>> open() const override {
    auto opened = FakeOrigin::open();
    begun.set_value();
    goes_on.get_future().wait();
    return opened;
  }
  mutable std::promise<void> begun, goes_on;
};

TEST_F(KeptFiles, WhatWasBeingOpenedWhenACommitEndedStaysReadable) {
  auto disk = std::make_shared<FakeDisk>();
  const auto before = with_numbers({1});
  disk->file = before;
  auto origin = std::make_unique<SlowOrigin>(disk);
  const SlowOrigin& slow = *origin;
  const auto file = std::make_shared<MountedFile>(context_, std::move(origin), "");
  auto opened = std::async(std::launch::async, [&] {
    return FakeMount::wait<GenerationPtr>([&](auto reply) { file->current(Freshness::now, std::move(reply)); });
  });
  slow.begun.get_future().wait();
  file->expect_commit();
  file->expect_switch();
  before->bytes->state = {.size = 500, .modified_ns = 7};
  file->supersede();
  slow.goes_on.set_value();
  const GenerationPtr generation = opened.get().value();
  std::array<std::byte, 4> bytes;
  EXPECT_TRUE(tfile::read_range(*generation->source, {0, bytes.size()}, bytes));
  EXPECT_TRUE(generation->superseded) << "whoever comes now looks again";
}

TEST(Generation, TheNextOpenSeesTheNewState) {
  FakeMount mount(with_numbers({1}));
  EXPECT_EQ(mount.numbers<std::int32_t>("t/n"), (std::vector<std::int32_t>{1}));
  const InodeId old_id = mount.fs->find_path("t/n")->id;
  const InodeNumber number = mount.stat("t/n")->number;
  mount.disk->put(with_numbers({1, 2}));
  // An open checks the source even if the last check is recent. ESTALE makes the kernel look up the name again.
  EXPECT_EQ(mount.open(old_id).error().kind, ErrorKind::stale);
  EXPECT_EQ(mount.numbers<std::int32_t>("t/n"), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(mount.stat("t/n")->size, 8u);
  EXPECT_NE(mount.fs->find_path("t/n")->id, old_id);
  EXPECT_EQ(mount.stat("t/n")->number, number) << "a number is of the path";
}

TEST(Generation, WhoComesBackIsNotTurnedAwayAgain) {
  FakeMount mount(with_numbers({1}));
  const InodeId old_id = mount.fs->find_path("t/n")->id;
  mount.disk->put(with_numbers({1, 2}));
  EXPECT_EQ(mount.open(old_id, 7).error().kind, ErrorKind::stale);
  const InodeId new_id = mount.fs->find_path("t/n")->id;
  mount.disk->put(with_numbers({1, 2, 3}));
  EXPECT_EQ(mount.open(new_id, 8).error().kind, ErrorKind::stale) << "another thread: it has not looked since";
  EXPECT_TRUE(mount.open(new_id, 7));
  EXPECT_EQ(mount.open(new_id, 7).error().kind, ErrorKind::stale) << "its next opening looks again";
}

TEST(Generation, WhoComesBackWithWhatItHadIsTurnedAwayAgain) {
  FakeMount mount(with_numbers({1}));
  const InodeId old_id = mount.fs->find_path("t/n")->id;
  mount.disk->put(with_numbers({1, 2}));
  EXPECT_EQ(mount.open(old_id, 7).error().kind, ErrorKind::stale);
  EXPECT_EQ(mount.open(old_id, 7).error().kind, ErrorKind::stale);
}

TEST(Generation, AHandleFromBeforeIsStale) {
  FakeMount mount(with_numbers({1}));
  const auto old_file = mount.open(mount.fs->find_path("t/n")->id);
  EXPECT_EQ(mount.read(old_file->handle)->size(), 4u);
  mount.disk->put(with_numbers({2}));
  wait_until_not_recent();
  EXPECT_EQ(mount.numbers<std::int32_t>("t/n"), (std::vector<std::int32_t>{2}));
  EXPECT_EQ(mount.read(old_file->handle).error().kind, ErrorKind::stale);
}

TEST(Generation, AttributesAreOfTheNewStateWithinAMoment) {
  FakeMount mount(with_numbers({1}));
  const auto file = mount.fs->find_path("t/n");
  const auto directory = mount.fs->find_path("t");
  mount.disk->put(with_numbers({1, 2, 3}));
  wait_until_not_recent();
  EXPECT_EQ(getattr(mount, file->id).error().kind, ErrorKind::stale);
  EXPECT_TRUE(getattr(mount, directory->id)) << "processes stand in directories";
  EXPECT_EQ(mount.stat("t/n")->size, 12u);
  EXPECT_EQ(mount.fs->find_path("t")->id, directory->id);
}

TEST(Generation, WhatIsGoneIsStaleThenNotThere) {
  FakeMount mount(with_numbers({1}));
  const InodeId directory = mount.fs->find_path("t")->id;
  mount.disk->put(std::make_shared<FakeFile>());
  wait_until_not_recent();
  EXPECT_EQ(getattr(mount, directory).error().kind, ErrorKind::stale);
  EXPECT_EQ(mount.stat("t").error().kind, ErrorKind::not_found);
}

TEST(Generation, AnUnchangedSourceIsOpenedOnceAndSeldomLookedAt) {
  FakeMount mount(with_numbers({1}));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(mount.stat("t/n"));
  EXPECT_EQ(mount.disk->opens, 1);
  EXPECT_LT(mount.disk->looks, 100);
}

TEST(Generation, ABrokenStateIsRefusedUntilItChanges) {
  FakeMount mount(with_numbers({1}));
  EXPECT_TRUE(mount.stat("t/n"));
  mount.disk->fail(Error{ErrorKind::damaged, "header is torn", 4, 0});
  wait_until_not_recent();
  EXPECT_EQ(mount.stat("t/n").error().kind, ErrorKind::damaged);
  const int opens = mount.disk->opens;
  EXPECT_EQ(mount.stat("t/n").error().kind, ErrorKind::damaged);
  EXPECT_EQ(mount.disk->opens, opens) << "known to be broken";
  mount.disk->fail(std::nullopt);
  EXPECT_EQ(mount.numbers<std::int32_t>("t/n"), (std::vector<std::int32_t>{1}));
}

TEST(Generation, AFailureOfTheStorageIsTriedAgain) {
  FakeMount mount(with_numbers({1}));
  mount.disk->fail(Error{ErrorKind::io, "the disk is broken", -1, EIO});
  EXPECT_EQ(mount.stat("t/n").error().kind, ErrorKind::io);
  mount.disk->error.reset();  // the file is as it was
  EXPECT_TRUE(mount.stat("t/n"));
}

TEST(Generation, WarningsOfAFileAreToldOnce) {
  auto file = with_numbers({1});
  file->warnings_of_file = {"the file was not closed"};
  FakeMount mount(file);
  EXPECT_TRUE(mount.stat("t/n"));
  EXPECT_TRUE(mount.stat("t/n"));
  EXPECT_EQ(mount.fs->errors().count(), 1u);
}

}  // namespace
}  // namespace tfilefs
