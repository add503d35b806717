// SPDX-License-Identifier: Apache-2.0
#include "tfile/writer.h"

#include <gtest/gtest.h>

#include <map>

#include "format/container/file_image.h"

namespace tfile {
namespace {

constexpr std::uint32_t kNow = 0x7DAB5C00;

// The bytes of a file to which plans are applied.
struct WrittenFile {
  std::vector<std::byte> bytes;

  void put(std::uint64_t offset, std::span<const std::byte> more) {
    bytes.resize(std::max<std::size_t>(bytes.size(), offset + more.size()));
    std::copy(more.begin(), more.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  void apply(const CommitPlan& plan) {
    if (plan.replace_file) bytes.clear();
    for (const CommitStep& step : plan.steps) {
      if (step.kind == CommitStep::Kind::write) put(step.offset, step.bytes);
    }
  }
  std::shared_ptr<const File> open() const {
    auto file = File::open(test::in_memory(bytes));
    EXPECT_TRUE(file) << file.error().text;
    return *file;
  }
};

std::vector<std::string> names(const DirectoryListing& listing) {
  std::vector<std::string> all;
  for (const KeyInfo& key : listing.keys) all.push_back(std::string(key.name) + ";" + std::to_string(key.cycle));
  return all;
}

const KeyInfo& key(const DirectoryListing& listing, std::string_view name) {
  for (const KeyInfo& one : listing.keys) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << "no key " << name;
  return listing.keys.front();
}

std::unique_ptr<FileWriter> new_writer() { return *FileWriter::create("new.root", {}); }

void commit(FileWriter& writer, WrittenFile& file) {
  auto plan = writer.plan(kNow);
  ASSERT_TRUE(plan) << plan.error().text;
  file.apply(*plan);
  EXPECT_EQ(plan->size, file.bytes.size());
  writer.committed(*plan);
}

TEST(FileWriter, ANewFileIsMadeWhole) {
  const auto writer = new_writer();
  ASSERT_TRUE(writer->create_table("", "Events", "all of them", TableFormat::tree));
  ASSERT_TRUE(writer->make_directory("run"));
  EXPECT_TRUE(writer->makes_new_file());
  const auto plan = writer->plan(kNow);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->replace_file);
  WrittenFile file;
  file.apply(*plan);
  writer->committed(*plan);
  EXPECT_FALSE(writer->makes_new_file());

  const auto opened = file.open();
  EXPECT_TRUE(opened->warnings().empty());
  EXPECT_EQ(names(*opened->root()), (std::vector<std::string>{"Events;1", "run;1"}));
  EXPECT_EQ(key(*opened->root(), "Events").title, "all of them");
  EXPECT_EQ(opened->header().name, "new.root");
  EXPECT_EQ(static_cast<std::uint64_t>(opened->header().end), file.bytes.size());
  EXPECT_EQ(opened->header().compress, 505);
  EXPECT_TRUE((*opened->directory(key(*opened->root(), "run")))->keys.empty());
  // Every byte belongs to a record.
  const auto map = opened->record_map();
  for (const Record& record : *map) EXPECT_NE(record.kind, Record::Kind::trailing);
}

TEST(FileWriter, HeadAndRootRecordShareASectorWhateverTheName) {
  const auto writer = *FileWriter::create(std::string(300, 'n') + ".root", {});
  ASSERT_TRUE(writer->make_directory("d"));
  WrittenFile file;
  commit(*writer, file);
  const auto opened = file.open();
  EXPECT_EQ(opened->header().name.size(), 158u);
  EXPECT_LE(opened->header().begin + opened->header().nbytes_name + 60, 512);
}

// The whole switch is one write at the beginning of the file, between two syncs.
TEST(FileWriter, ACommitInTheRootDirectoryHasTwoBarriers) {
  const auto writer = new_writer();
  ASSERT_TRUE(writer->make_directory("one"));
  WrittenFile file;
  commit(*writer, file);
  ASSERT_TRUE(writer->make_directory("two"));
  const auto plan = writer->plan(kNow);
  ASSERT_TRUE(plan);
  std::vector<std::size_t> syncs;
  for (std::size_t i = 0; i < plan->steps.size(); ++i) {
    if (plan->steps[i].kind == CommitStep::Kind::sync) syncs.push_back(i);
  }
  ASSERT_EQ(syncs, (std::vector<std::size_t>{plan->steps.size() - 3, plan->steps.size() - 1}));
  const CommitStep& head = plan->steps[syncs[0] + 1];
  EXPECT_EQ(head.offset, 0u);
  EXPECT_EQ(head.bytes, plan->head_after);
  EXPECT_LE(head.bytes.size(), 512u);
  for (std::size_t i = 0; i < syncs[0]; ++i)
    EXPECT_GE(plan->steps[i].offset, static_cast<std::uint64_t>(file.open()->header().end));
}

TEST(FileWriter, ACommitInADirectoryHasThreeBarriersAndStaysInOneSector) {
  const auto writer = new_writer();
  ASSERT_TRUE(writer->make_directory("d"));
  WrittenFile file;
  commit(*writer, file);
  ASSERT_TRUE(writer->make_directory("d/e"));
  const auto plan = writer->plan(kNow);
  ASSERT_TRUE(plan);
  std::size_t syncs = 0;
  for (const CommitStep& step : plan->steps) syncs += step.kind == CommitStep::Kind::sync;
  EXPECT_EQ(syncs, 3u);
  const CommitStep& record = plan->steps[plan->steps.size() - 2];
  EXPECT_EQ(record.bytes.size(), 24u);
  EXPECT_EQ(record.offset / 512, (record.offset + record.bytes.size() - 1) / 512);
}

TEST(FileWriter, APlanThatIsNotDoneChangesNothing) {
  const auto writer = new_writer();
  ASSERT_TRUE(writer->make_directory("d"));
  WrittenFile file;
  commit(*writer, file);
  ASSERT_TRUE(writer->make_directory("d/e"));
  const auto first = writer->plan(kNow), second = writer->plan(kNow);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->size, second->size);
  ASSERT_EQ(first->steps.size(), second->steps.size());
  for (std::size_t i = 0; i < first->steps.size(); ++i) {
    EXPECT_EQ(first->steps[i].offset, second->steps[i].offset);
    EXPECT_EQ(first->steps[i].bytes, second->steps[i].bytes);
  }
}

TEST(FileWriter, WithNothingToDoThereIsNoPlan) {
  const auto writer = new_writer();
  ASSERT_TRUE(writer->make_directory("d"));
  WrittenFile file;
  commit(*writer, file);
  const auto plan = writer->plan(kNow);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->steps.empty());
}

// A commit of nothing else turns the old records of the last commit into gaps. After that there is nothing left to do.
TEST(FileWriter, LeavesTheFileTidy) {
  const auto writer = new_writer();
  ASSERT_TRUE(writer->make_directory("d"));
  WrittenFile file;
  commit(*writer, file);
  ASSERT_TRUE(writer->make_directory("e"));
  commit(*writer, file);
  const auto gaps = [&] {
    std::uint64_t bytes = 0;
    const auto map = file.open()->record_map();
    for (const Record& record : *map) bytes += record.kind == Record::Kind::gap ? record.size : 0;
    return bytes;
  };
  EXPECT_EQ(gaps(), 0u);
  commit(*writer, file);
  EXPECT_GT(gaps(), 0u);
  EXPECT_TRUE(writer->plan(kNow)->steps.empty());
}

TEST(FileWriter, WithoutItsLastKeyTheFileIsANewOne) {
  const auto writer = new_writer();
  ASSERT_TRUE(writer->make_directory("d"));
  WrittenFile file;
  commit(*writer, file);
  const auto uuid = file.open()->header().uuid;
  ASSERT_TRUE(writer->remove_key("", "d"));
  auto plan = writer->plan(kNow);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->replace_file);
  EXPECT_EQ(head_state(std::span(file.bytes).first(plan->head_before.size()), plan->head_before, plan->head_after),
            HeadState::before);
  file.apply(*plan);
  writer->committed(*plan);
  EXPECT_TRUE(writer->makes_new_file());
  EXPECT_TRUE(file.open()->root()->keys.empty());
  EXPECT_FALSE(file.open()->recovered());

  // Also after reopening.
  const auto again = *FileWriter::open(file.open(), {});
  EXPECT_TRUE(again->makes_new_file());
  ASSERT_TRUE(again->make_directory("f"));
  plan = again->plan(kNow);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->replace_file);
  file.apply(*plan);
  EXPECT_EQ(names(*file.open()->root()), (std::vector<std::string>{"f;1"}));
  EXPECT_EQ(file.open()->header().uuid, uuid);
}

TEST(FileWriter, RefusesWhatCannotBe) {
  const auto writer = new_writer();
  ASSERT_TRUE(writer->make_directory("d"));
  ASSERT_TRUE(writer->make_directory("d/e"));
  EXPECT_EQ(writer->make_directory("d").error().kind, ErrorKind::exists);
  EXPECT_EQ(writer->make_directory("x/y").error().kind, ErrorKind::not_found);
  EXPECT_EQ(writer->make_directory("").error().kind, ErrorKind::invalid);
  EXPECT_EQ(writer->create_table("", "d", "", TableFormat::tree).error().kind, ErrorKind::exists);
  EXPECT_EQ(writer->create_table("", "a/b", "", TableFormat::tree).error().kind, ErrorKind::invalid);
  EXPECT_EQ(writer->remove_key("", "nothing").error().kind, ErrorKind::not_found);
  EXPECT_EQ(writer->rename_key("", "d", "d/e", "inside").error().kind, ErrorKind::invalid);
  EXPECT_EQ(writer->open_table("", "d", FileWriter::OldCycle::replaced).error().kind, ErrorKind::unsupported);
}

// Also for objects that no commit has written yet.
TEST(FileWriter, RenamesAndRemovesBetweenDirectories) {
  const auto writer = new_writer();
  WrittenFile file;
  ASSERT_TRUE(writer->make_directory("a"));
  ASSERT_TRUE(writer->make_directory("b"));
  ASSERT_TRUE(writer->create_table("a", "t", "table", TableFormat::tree));
  ASSERT_TRUE(writer->rename_key("a", "t", "b", "u"));
  commit(*writer, file);
  auto opened = file.open();
  EXPECT_TRUE((*opened->directory(key(*opened->root(), "a")))->keys.empty());
  EXPECT_EQ(names(**opened->directory(key(*opened->root(), "b"))), (std::vector<std::string>{"u;1"}));

  ASSERT_TRUE(writer->rename_key("", "b", "a", "c"));
  commit(*writer, file);
  opened = file.open();
  EXPECT_EQ(names(*opened->root()), (std::vector<std::string>{"a;1"}));
  auto inner = *opened->directory(key(*opened->root(), "a"));
  EXPECT_EQ(names(*inner), (std::vector<std::string>{"c;1"}));
  EXPECT_EQ(names(**opened->directory(key(*inner, "c"))), (std::vector<std::string>{"u;1"}));

  ASSERT_TRUE(writer->remove_key("a/c", "u"));
  ASSERT_TRUE(writer->remove_key("a", "c"));
  commit(*writer, file);
  opened = file.open();
  EXPECT_TRUE((*opened->directory(key(*opened->root(), "a")))->keys.empty());
}

TEST(FileWriter, ADirectoryGoesWithAllThatIsInIt) {
  const auto writer = new_writer();
  WrittenFile file;
  for (const char* name : {"a", "a/b", "a/b/c", "z"}) ASSERT_TRUE(writer->make_directory(name));
  ASSERT_TRUE(writer->create_table("a/b", "t", "table", TableFormat::tree));
  commit(*writer, file);
  const auto again = *FileWriter::open(file.open(), {});
  ASSERT_TRUE(again->make_directory("a/new"));
  ASSERT_TRUE(again->remove_key("", "a"));
  ASSERT_TRUE(again->make_directory("a"));
  commit(*again, file);
  const auto opened = file.open();
  EXPECT_EQ(names(*opened->root()), (std::vector<std::string>{"z;1", "a;1"}));
  EXPECT_TRUE((*opened->directory(key(*opened->root(), "a")))->keys.empty());
}

// Everything in another writer's file keeps its bytes, including objects that are not understood.
TEST(FileWriter, AddsToAFileWithoutTouchingWhatIsThere) {
  test::FileImage image;
  image.add_object(image.root, "TObjString", "first", "some content");
  auto directory = image.add_directory(image.root, "dir");
  image.add_object(directory, "TNamed", "inner", "of a directory");
  image.finish_directory(directory, "TDirectory", 100);
  WrittenFile file{image.finish()};
  const std::vector<std::byte> before = file.bytes;

  const auto writer = *FileWriter::open(file.open(), {});
  EXPECT_FALSE(writer->makes_new_file());
  ASSERT_TRUE(writer->make_directory("dir/new"));
  ASSERT_TRUE(writer->create_table("", "Events", "", TableFormat::tree));
  commit(*writer, file);
  const auto opened = file.open();
  EXPECT_EQ(names(*opened->root()), (std::vector<std::string>{"first;1", "dir;1", "Events;1"}));
  EXPECT_EQ(names(**opened->directory(key(*opened->root(), "dir"))), (std::vector<std::string>{"inner;1", "new;1"}));
  const KeyInfo& first = key(*opened->root(), "first");
  EXPECT_TRUE(std::equal(before.begin() + static_cast<std::ptrdiff_t>(first.seek),
                         before.begin() + static_cast<std::ptrdiff_t>(first.seek + first.nbytes),
                         file.bytes.begin() + static_cast<std::ptrdiff_t>(first.seek)));
}

// If a key claims the bytes of another record, the space is not reused.
TEST(FileWriter, DoesNotFreeWhatAKeyOnlyClaims) {
  test::FileImage image;
  image.add_object(image.root, "TObjString", "first", std::string(500, 'x'));
  image.add_object(image.root, "TObjString", "other", "kept");
  image.root.keys[1].nbytes = 300;
  image.root.keys[1].seek = image.root.keys[0].seek + 100;
  WrittenFile file{image.finish()};
  const auto writer = *FileWriter::open(file.open(), {});
  ASSERT_TRUE(writer->remove_key("", "other"));
  commit(*writer, file);
  commit(*writer, file);
  ASSERT_TRUE(writer->make_directory("d"));
  commit(*writer, file);
  const auto opened = file.open();
  const KeyInfo& first = key(*opened->root(), "first");
  for (std::size_t i = first.seek + first.keylen; i < first.seek + first.nbytes; ++i)
    ASSERT_EQ(file.bytes[i], std::byte{'x'}) << i;
}

TEST(FileWriter, RefusesAFileWhoseRecordsLieBehindItsEnd) {
  test::FileImage image;
  image.add_object(image.root, "TObjString", "first", "some content");
  std::vector<std::byte> bytes = image.finish();
  store_big(bytes.data() + 12, std::int32_t{200});
  const auto file = File::open(test::in_memory(bytes));
  ASSERT_TRUE(file);
  const auto writer = FileWriter::open(*file, {});
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().kind, ErrorKind::unsupported);
}

TEST(HeadState, TellsATornSectorFromAnotherWriter) {
  const auto bytes = [](std::string_view text) {
    const auto span = std::as_bytes(std::span(text));
    return std::vector<std::byte>(span.begin(), span.end());
  };
  const auto before = bytes("root aaaa"), after = bytes("root bbbb");
  EXPECT_EQ(head_state(before, before, after), HeadState::before);
  EXPECT_EQ(head_state(after, before, after), HeadState::after);
  EXPECT_EQ(head_state(bytes("root bbaa"), before, after), HeadState::torn);
  EXPECT_EQ(head_state(bytes("root bbac"), before, after), HeadState::other);
  EXPECT_EQ(head_state(bytes("root"), before, after), HeadState::other);
}

TEST(Datime, GoesBothWays) {
  for (const std::int64_t time : {788918400ll, 1763762400ll, 1709251199ll, 2808604799ll})
    EXPECT_EQ(unix_time(datime_of(time)), time);
  EXPECT_EQ(unix_time(datime_of(0)), 788918400);
  EXPECT_EQ(unix_time(datime_of(std::int64_t{1} << 40)), 2808604799);
}

}  // namespace
}  // namespace tfile
