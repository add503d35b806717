// SPDX-License-Identifier: Apache-2.0
#include "vfs/file_system.h"

#include <gtest/gtest.h>

#include <climits>

#include "fake_file.h"

namespace tfilefs {
namespace {

using tfile::KeyKind;
using Names = std::vector<std::string>;

std::shared_ptr<ArrayTable> events() {
  auto table = std::make_shared<ArrayTable>();
  table->name = "Events";
  table->entries = 3;
  const auto x = table->column(0, "x.f4", tfile::Role::values, std::vector<float>{1, 2, 3});
  table->columns[0].branch = "x";
  table->columns[0].compression = "zlib:1";
  table->nodes[x].branch_name = "x";
  table->string(0, "s", {"a", "bc", ""});
  const auto hits = table->directory(0, "hits");
  const auto values = table->directory(hits, "values");
  const auto id = table->column(values, "id.i4", tfile::Role::values, std::vector<std::int32_t>{7, 8});
  table->nodes[id].branch_name = "hits.id";
  return table;
}

std::shared_ptr<FakeFile> sample() {
  auto file = std::make_shared<FakeFile>();
  file->table("Events", events(), 2);
  file->object("note", "the bytes");
  file->object("note", "older", 3);
  file->object("note", "newest", 5);
  file->object("a/b", "slash");
  const auto d = file->add(FakeFile::kRootSeek, "d", KeyKind::directory);
  file->add(d, "inner", KeyKind::directory);
  return file;
}

TEST(FileSystem, ListsTheNewestCycleOfEachName) {
  FakeMount mount(sample());
  EXPECT_EQ(mount.ls("").value(), (Names{".", "..", "d", "a%2Fb", "note", "Events"}));
  EXPECT_EQ(mount.ls("d").value(), (Names{".", "..", "inner"}));
  EXPECT_EQ(mount.ls("note").value(), (Names{".", "..", "object.bin", "object.json"}));
  EXPECT_EQ(mount.ls("Events").value(), (Names{".", "..", "x.f4", "s", "hits"}));
}

TEST(FileSystem, FindsAnyCycleByNumber) {
  FakeMount mount(sample());
  EXPECT_EQ(mount.text("note/object.bin"), "newest");
  EXPECT_EQ(mount.text("note;5/object.bin"), "newest");
  EXPECT_EQ(mount.text("note/object.json"), "\"newest\"\n");
  EXPECT_EQ(mount.cat("note/text.txt").error().kind, ErrorKind::damaged);
  EXPECT_EQ(mount.cat("note/plot.svg").error().kind, ErrorKind::not_found);
  EXPECT_EQ(mount.text("note;3/object.bin"), "older");
  EXPECT_EQ(mount.text("note;1/object.bin"), "the bytes");
  for (const char* wrong : {"note;2", "note;05", "note;", "note;-1", "note;65536", ";1", "Events;1"})
    EXPECT_EQ(mount.stat(wrong).error().kind, ErrorKind::not_found) << wrong;
}

TEST(FileSystem, ReadsColumnsUnderTheirOtherNames) {
  FakeMount mount(sample());
  EXPECT_EQ(mount.numbers<float>("Events/x.f4"), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(mount.numbers<float>("Events/x"), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(mount.numbers<std::int32_t>("Events/hits.id"), (std::vector<std::int32_t>{7, 8}));
  EXPECT_EQ(mount.numbers<std::int32_t>("Events/hits/hits.id"), (std::vector<std::int32_t>{7, 8}));
  EXPECT_EQ(mount.text("Events/s/chars.u1"), "abc");
  EXPECT_EQ(mount.stat("Events/x")->number, mount.stat("Events/x.f4")->number);
  EXPECT_EQ(mount.stat("Events/x.npy")->number, mount.stat("Events/x.f4.npy")->number);
  EXPECT_NE(mount.stat("Events/x.npy")->number, mount.stat("Events/x")->number);
  EXPECT_EQ(mount.stat("Events/s/hits.id").error().kind, ErrorKind::not_found);
}

TEST(FileSystem, ShowsViewsByNameOnly) {
  FakeMount mount(sample());
  EXPECT_EQ(mount.text("Events/x.npy").substr(1, 5), "NUMPY");
  EXPECT_EQ(mount.stat("Events/x.npy")->size, mount.text("Events/x.npy").size());
  EXPECT_EQ(mount.text("Events/.schema.json").front(), '{');
  EXPECT_EQ(mount.stat("Events/.schema.json")->size, mount.text("Events/.schema.json").size());
  EXPECT_EQ(mount.text(".original"), std::string(1000, 'x'));
  EXPECT_EQ(mount.text(".header.json").front(), '{');
  EXPECT_TRUE(mount.cat(".map.txt"));
  EXPECT_EQ(mount.stat("d/.original").error().kind, ErrorKind::not_found);
  EXPECT_EQ(mount.stat("note/.schema.json").error().kind, ErrorKind::not_found);
}

TEST(FileSystem, ListsViewsWhereAskedTo) {
  FileSystemOptions options;
  options.views_listed = true;
  FakeMount mount(sample(), options);
  const auto root = mount.ls("").value();
  for (const char* name : {"note", "note;3", "note;1", ".header.json", ".map.txt", ".original", ".tfilefs"})
    EXPECT_EQ(std::count(root.begin(), root.end(), name), 1) << name;
  const auto table = mount.ls("Events").value();
  for (const char* name : {"x.f4", "x.f4.npy", "x.f4.txt", "s.txt", ".schema.json"})
    EXPECT_EQ(std::count(table.begin(), table.end(), name), 1) << name;
  for (const std::string& name : table) EXPECT_TRUE(name.starts_with('.') || mount.stat("Events/" + name)) << name;
}

// The names that a listing tells together with their attributes.
Names told_whole(FakeMount& mount, const std::string& path) {
  const InodeId directory = mount.fs->find_path(path)->id;
  const auto handle = FakeMount::wait<HandleId>([&](auto reply) { mount.fs->opendir(directory, std::move(reply)); });
  auto page = std::make_shared<PageSink>(100);
  EXPECT_TRUE(FakeMount::wait<void>([&](auto reply) { mount.fs->readdir(*handle, 0, true, page, std::move(reply)); }));
  Names names;
  for (std::size_t i = 0; i < page->names.size(); ++i) {
    if (page->ids[i] != 0) names.push_back(page->names[i]);
  }
  return names;
}

TEST(FileSystem, ListsViewsWithTheirSizesOnceTheseAreKnown) {
  FileSystemOptions options;
  options.views_listed = true;
  FakeMount mount(sample(), options);
  const auto tells = [&] { return std::ranges::count(told_whole(mount, "Events"), "s.txt"); };
  EXPECT_EQ(tells(), 0);
  const std::uint64_t size = mount.stat("Events/s.txt")->size;
  EXPECT_EQ(tells(), 1);
  EXPECT_EQ(mount.stat("Events/s.txt")->size, size);
}

TEST(FileSystem, ListsAnObjectWithTheSizesOfItsFiles) {
  FakeMount mount(sample());
  EXPECT_EQ(told_whole(mount, "note"), (Names{"object.bin", "object.json"}));
  EXPECT_EQ(mount.stat("note/object.bin")->size, 6u);
  EXPECT_EQ(mount.stat("note/object.json")->size, 9u);
  EXPECT_EQ(mount.text("note/object.json"), "\"newest\"\n");
}

TEST(FileSystem, TellsWhatStatShows) {
  FileSystemOptions options;
  options.ownership.gid = 99;
  options.ownership.umask = 0077;
  FakeMount mount(sample(), options);
  const Attributes column = mount.stat("Events/x.f4").value();
  EXPECT_EQ(column.mode, static_cast<mode_t>(S_IFREG | 0400));
  EXPECT_EQ(column.uid, 12u);
  EXPECT_EQ(column.gid, 99u);
  EXPECT_EQ(column.size, 12u);
  EXPECT_EQ(column.blocks, 1u);
  EXPECT_EQ(column.modified.tv_sec, 1580702706);  // 2020-02-03 04:05:06 UTC, the date of the key
  const Attributes root = mount.stat("").value();
  EXPECT_EQ(root.mode, static_cast<mode_t>(S_IFDIR | 0500));
  EXPECT_EQ(root.modified.tv_sec, 1000);
  EXPECT_EQ(root.number, kRootId);
  EXPECT_EQ(mount.stat("Events/hits")->links, 3u);
  EXPECT_EQ(mount.stat("Events/hits/values")->links, 2u);
}

TEST(FileSystem, GivesTheSameNumbersOnEveryMount) {
  FakeMount one(sample()), two(sample());
  EXPECT_EQ(two.stat("note")->number, one.stat("note")->number);
  for (const char* path : {"Events", "Events/x.f4", "d/inner", "note;3/object.bin"})
    EXPECT_EQ(one.stat(path)->number, two.stat(path)->number) << path;
  EXPECT_NE(one.stat("note")->number, one.stat("note;3")->number);
}

TEST(FileSystem, ListingsAgreeWithStat) {
  FakeMount mount(sample());
  const auto handle = FakeMount::wait<HandleId>([&](auto reply) { mount.fs->opendir(kRootId, std::move(reply)); });
  for (const bool full : {false, true}) {
    auto page = std::make_shared<PageSink>(100);
    ASSERT_TRUE(
        FakeMount::wait<void>([&](auto reply) { mount.fs->readdir(*handle, 0, full, page, std::move(reply)); }));
    for (std::size_t i = 2; i < page->names.size(); ++i) {
      const Attributes found = mount.stat(page->names[i]).value();
      EXPECT_EQ(page->numbers[i], found.number);
      EXPECT_EQ(page->types[i], found.mode & S_IFMT);
      EXPECT_EQ(page->ids[i] != 0, full);
    }
  }
}

TEST(FileSystem, SaysWhatCannotBeDone) {
  FakeMount mount(sample());
  const auto errno_of_stat = [&](const char* path) { return mount.stat(path).error().system_errno; };
  EXPECT_EQ(errno_of_stat("nothing"), ENOENT);
  EXPECT_EQ(errno_of_stat("Events/x.f4/below"), ENOTDIR);
  EXPECT_EQ(errno_of_stat(std::string(256, 'n').c_str()), ENOENT) << "clients of HTTP may ask for such names";
  EXPECT_EQ(errno_of_stat(std::string(PATH_MAX, 'n').c_str()), ENAMETOOLONG);
  EXPECT_EQ(mount.open(mount.fs->find_path("Events")->id).error().system_errno, EISDIR);
  EXPECT_EQ(mount.open(12345).error().kind, ErrorKind::stale);
  EXPECT_EQ(mount.read(12345).error().system_errno, EBADF);
  EXPECT_EQ(mount.fs->errors().text(), "") << "what is not there is no trouble";
}

TEST(FileSystem, DamageStaysWhereItIs) {
  auto file = sample();
  file->damaged.insert(file->object("broken", "?"));
  file->damaged.insert(file->add(FakeFile::kRootSeek, "lost", KeyKind::directory));
  file->damaged.insert(file->table("torn", events()));
  FakeMount mount(file);
  EXPECT_EQ(mount.cat("broken/object.bin").error().kind, ErrorKind::damaged);
  EXPECT_EQ(mount.ls("lost").error().kind, ErrorKind::damaged);
  EXPECT_EQ(mount.ls("torn").error().kind, ErrorKind::damaged);
  EXPECT_EQ(mount.text("note/object.bin"), "newest");
  const std::string errors = mount.text(".tfilefs/errors");
  EXPECT_NE(errors.find("/broken: object is damaged (at byte 99)"), std::string::npos) << errors;
  EXPECT_NE(errors.find("/lost: key list is damaged (at byte 77)"), std::string::npos) << errors;
  EXPECT_NE(errors.find("/torn: tree is damaged (at byte 88)"), std::string::npos) << errors;
}

TEST(FileSystem, ALackOfMemoryIsAnAnswer) {
  auto file = sample();
  const auto seek = file->table("huge", events());
  file->out_of_memory.insert(seek);
  FakeMount mount(file);
  EXPECT_EQ(mount.ls("huge").error().system_errno, ENOMEM);
  EXPECT_TRUE(mount.ls("Events"));
  file->out_of_memory.clear();
  EXPECT_TRUE(mount.ls("huge")) << "it may go better another time";
}

TEST(FileSystem, DirectoriesThatHoldEachOtherEnd) {
  auto file = std::make_shared<FakeFile>();
  const auto a = file->add(FakeFile::kRootSeek, "a", KeyKind::directory);
  const auto b = file->add(a, "b", KeyKind::directory);
  file->add(b, "a again", KeyKind::directory, 1, a);
  file->add(b, "root again", KeyKind::directory, 1, FakeFile::kRootSeek);
  FakeMount mount(file);
  EXPECT_EQ(mount.ls("a/b")->size(), 4u);
  EXPECT_EQ(mount.ls("a/b/a again").error().system_errno, ELOOP);
  EXPECT_EQ(mount.ls("a/b/root again").error().system_errno, ELOOP);
}

TEST(FileSystem, DirectoriesNestAsDeepAsAPathCanName) {
  auto file = std::make_shared<FakeFile>();
  std::uint64_t at = FakeFile::kRootSeek;
  std::string path;
  for (int depth = 0; depth < PATH_MAX / 2 + 10; ++depth) {
    at = file->add(at, "d", KeyKind::directory);
    path += "d/";
  }
  FakeMount mount(file);
  EXPECT_TRUE(mount.ls(path.substr(0, std::size_t{2} * 300)));
  EXPECT_EQ(mount.ls(path).error().system_errno, ENAMETOOLONG);
}

TEST(FileSystem, FindsAmongManyKeys) {
  auto file = std::make_shared<FakeFile>();
  const auto d = file->add(FakeFile::kRootSeek, "many", KeyKind::directory);
  for (int i = 0; i < 20000; ++i) file->add(d, "key" + std::to_string(i), KeyKind::object);
  FakeMount mount(file);
  EXPECT_EQ(mount.ls("many")->size(), 20002u);
  EXPECT_TRUE(mount.stat("many/key0"));
  EXPECT_TRUE(mount.stat("many/key19999"));
  EXPECT_FALSE(mount.stat("many/key20000"));
}

TEST(FileSystem, ATableIsOpenedOnceForAll) {
  auto file = sample();
  FakeMount mount(file);
  std::vector<std::future<void>> readers;
  for (int i = 0; i < 8; ++i)
    readers.push_back(std::async(std::launch::async, [&] { EXPECT_TRUE(mount.cat("Events/x.f4")); }));
  for (auto& reader : readers) reader.get();
  EXPECT_TRUE(mount.ls("Events;2"));
  EXPECT_EQ(file->tables_opened, 1);
}

TEST(FileSystem, ATableThatCannotBeReadShowsItsBytesAndWhy) {
  auto file = std::make_shared<FakeFile>();
  auto opaque = std::make_shared<ArrayTable>();
  opaque->reason = "a format of trial";
  file->table("ntuple", opaque);
  FakeMount mount(file);
  EXPECT_EQ(mount.ls("ntuple").value(), (Names{".", "..", "object.bin", ".schema.json"}));
  EXPECT_NE(mount.text("ntuple/.schema.json").find("a format of trial"), std::string::npos);
  EXPECT_NE(mount.fs->errors().text().find("/ntuple: a format of trial"), std::string::npos);
}

TEST(FileSystem, NamesColumnsInXattrs) {
  FakeMount mount(sample());
  const InodeId x = mount.fs->find_path("Events/x")->id;
  const auto get = [&](InodeId id, const char* name) {
    return FakeMount::wait<std::string>([&](auto reply) { mount.fs->getxattr(id, name, std::move(reply)); });
  };
  EXPECT_EQ(get(x, "user.tfilefs.branch").value(), "x");
  EXPECT_EQ(get(x, "user.tfilefs.dtype").value(), "<f4");
  EXPECT_EQ(get(x, "user.tfilefs.shape").value(), "[]");
  EXPECT_EQ(get(x, "user.tfilefs.length").value(), "3");
  EXPECT_EQ(get(x, "user.tfilefs.compression").value(), "zlib:1");
  EXPECT_EQ(get(x, "user.other").error().system_errno, ENODATA);
  EXPECT_EQ(get(x, "system.posix_acl_access").error().system_errno, ENOTSUP);
  EXPECT_EQ(get(mount.fs->find_path("a%2Fb")->id, "user.tfilefs.name").value(), "a/b");
  const auto names = FakeMount::wait<std::string>([&](auto reply) { mount.fs->listxattr(x, std::move(reply)); });
  EXPECT_NE(names->find(std::string("user.tfilefs.length") + '\0'), std::string::npos);
}

TEST(FileSystem, ControlFilesAreMadeAnew) {
  FakeMount mount(sample());
  EXPECT_EQ(mount.ls(".tfilefs").value(), (Names{".", "..", "README", "config.json", "errors", "metrics",
                                                 "pending.json", "reads.json", "stats.json"}));
  const auto errors = mount.fs->find_path(".tfilefs/errors");
  EXPECT_TRUE(mount.open(errors->id)->direct);
  EXPECT_EQ(mount.text(".tfilefs/errors"), "");
  mount.fs->errors().add("/somewhere", "trouble");
  EXPECT_NE(mount.text(".tfilefs/errors").find("/somewhere: trouble\n"), std::string::npos);
  EXPECT_NE(mount.text(".tfilefs/README").find(".schema.json"), std::string::npos);
}

TEST(FileSystem, ForgetsWhatTheKernelForgot) {
  FakeMount mount(sample());
  const InodeId id = mount.fs->find_path("note")->id;
  mount.fs->find_path("note").value();
  mount.fs->forget(id, 1);
  EXPECT_TRUE(FakeMount::wait<Attributes>([&](auto reply) { mount.fs->getattr(id, std::move(reply)); }));
  mount.fs->forget(id, 1);
  EXPECT_EQ(FakeMount::wait<Attributes>([&](auto reply) { mount.fs->getattr(id, std::move(reply)); }).error().kind,
            ErrorKind::stale);
}

}  // namespace
}  // namespace tfilefs
