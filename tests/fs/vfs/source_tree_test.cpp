// SPDX-License-Identifier: Apache-2.0
#include "vfs/mirror/source_tree.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "fake_file.h"
#include "made_root_file.h"
#include "temporary_directory.h"

namespace tfilefs {
namespace {

namespace stdfs = std::filesystem;

// A directory of the host and a FileSystem that mirrors it.
class MirroredDirectory : public testing::Test {
 protected:
  void SetUp() override {
    path_ = top_ / "source";
    stdfs::create_directories(path_ / "sub/deep");
    write("plain.txt", "hello");
    write("sub/deep/also.txt", "deep");
    write("sub/false.root", "root, but nothing else");
    std::ofstream(top_ / "outside.txt") << "secret";
  }
  void TearDown() override { fs_.reset(); }
  void write(const std::string& name, const std::string& text) { std::ofstream(path_ / name) << text; }
  void mount(const std::string& hidden = "") {
    FileSystemOptions options;
    options.cache = {.memory = 16 << 20, .threads = 1, .io_threads = 2};
    fs_ = std::move(FileSystem::open(path_.string(), options, hidden)).value();
  }
  Result<std::string> cat(const std::string& path) {
    TRY(const auto found, fs_->find_path(path));
    TRY(const auto opened,
        FakeMount::wait<FileSystem::Opened>([&](auto reply) { fs_->open(found.id, std::move(reply)); }));
    const auto slices =
        FakeMount::wait<Slices>([&](auto reply) { fs_->read(opened.handle, 0, 1 << 20, std::move(reply)); });
    fs_->release(opened.handle);
    if (!slices) return tl::unexpected(slices.error());
    std::string bytes;
    for (const auto piece : slices->pieces) bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return bytes;
  }
  std::map<std::string, mode_t> ls(const std::string& path) {
    const auto found = fs_->find_path(path);
    const auto handle = FakeMount::wait<HandleId>([&](auto reply) { fs_->opendir(found->id, std::move(reply)); });
    auto page = std::make_shared<PageSink>(1000);
    EXPECT_TRUE(FakeMount::wait<void>([&](auto reply) { fs_->readdir(*handle, 0, true, page, std::move(reply)); }));
    fs_->release(*handle);
    std::map<std::string, mode_t> types;
    for (std::size_t i = 2; i < page->names.size(); ++i) types[page->names[i]] = page->types[i];
    return types;
  }

  const TemporaryDirectory temporary_;
  const stdfs::path top_ = temporary_.path();
  stdfs::path path_;
  std::unique_ptr<FileSystem> fs_;
};

TEST_F(MirroredDirectory, AFileThatChangesWhileItIsOpenedIsNoPlainFile) {
  constexpr std::streamoff kUuidAt = 47;  // in the header: can be any bytes
  write_root_file(path_ / "x.root");
  mount();
  ASSERT_TRUE(S_ISDIR(fs_->find_path("x.root")->attributes.mode));
  std::jthread writer([&](const std::stop_token& stop) {
    std::fstream file(path_ / "x.root", std::ios::binary | std::ios::in | std::ios::out);
    for (char byte = 0; !stop.stop_requested(); ++byte) file.seekp(kUuidAt).put(byte).flush();
  });
  for (int i = 0; i < 60; ++i) {
    mount();
    const auto found = fs_->find_path("x.root");
    if (found)
      EXPECT_TRUE(S_ISDIR(found->attributes.mode));
    else
      EXPECT_EQ(found.error().kind, ErrorKind::stale) << found.error().text;
  }
}

TEST_F(MirroredDirectory, PassesPlainFilesThrough) {
  mount();
  EXPECT_EQ(cat("plain.txt").value(), "hello");
  EXPECT_EQ(cat("sub/deep/also.txt").value(), "deep");
  EXPECT_EQ(fs_->find_path("plain.txt")->attributes.size, 5u);
  EXPECT_EQ(fs_->find_path("plain.txt")->attributes.mode & 0222, 0u);
  EXPECT_EQ(fs_->find_path("nothing").error().kind, ErrorKind::not_found);
  EXPECT_EQ(fs_->find_path("plain.txt/below").error().system_errno, ENOTDIR);
}

TEST_F(MirroredDirectory, SeesWhatIsThereNow) {
  mount();
  write("new.txt", "new");
  EXPECT_EQ(cat("new.txt").value(), "new");
  write("new.txt", "longer");
  EXPECT_EQ(cat("new.txt").value(), "longer");
  stdfs::remove(path_ / "new.txt");
  EXPECT_EQ(cat("new.txt").error().kind, ErrorKind::not_found);
}

TEST_F(MirroredDirectory, AFileInThePlaceOfAnotherIsAnother) {
  mount();
  const auto before = fs_->find_path("plain.txt");
  write("next.txt", "replaced");
  stdfs::rename(path_ / "next.txt", path_ / "plain.txt");
  const auto opened = FakeMount::wait<FileSystem::Opened>([&](auto reply) { fs_->open(before->id, std::move(reply)); });
  EXPECT_EQ(opened.error().kind, ErrorKind::stale);
  EXPECT_EQ(cat("plain.txt").value(), "replaced");
  EXPECT_EQ(fs_->find_path("plain.txt")->attributes.number, before->attributes.number);
}

TEST_F(MirroredDirectory, PagesAreKeptWhileAFileIsUnchanged) {
  mount();
  const auto open = [&] {
    const InodeId id = fs_->find_path("plain.txt")->id;
    return FakeMount::wait<FileSystem::Opened>([&](auto reply) { fs_->open(id, std::move(reply)); }).value();
  };
  // Once it cannot change any more without another time: the coarsest clock of file systems has steps of two seconds.
  const auto is_kept_soon = [&] {
    for (int tries = 100; tries > 0 && !open().keep_cache; --tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return open().keep_cache;
  };
  open();
  EXPECT_FALSE(open().keep_cache);
  EXPECT_TRUE(is_kept_soon());
  write("plain.txt", "of another size");
  EXPECT_FALSE(open().keep_cache);
  EXPECT_TRUE(is_kept_soon());
}

TEST_F(MirroredDirectory, WhatOnlyBeginsAsARootFilePassesThrough) {
  mount();
  EXPECT_EQ(cat("sub/false.root").value(), "root, but nothing else");
  EXPECT_NE(fs_->errors().text().find("/sub/false.root: "), std::string::npos);
}

TEST_F(MirroredDirectory, ListingsGuessByNameAlone) {
  mount();
  ::mkfifo((path_ / "pipe").c_str(), 0600);
  stdfs::create_symlink("plain.txt", path_ / "link");
  write("x.root", "");
  const auto types = ls("");
  EXPECT_EQ(types.at("sub"), static_cast<mode_t>(S_IFDIR));
  EXPECT_EQ(types.at("x.root"), static_cast<mode_t>(S_IFDIR));
  EXPECT_EQ(types.at("plain.txt"), 0u);
  EXPECT_EQ(types.at("link"), 0u);
  EXPECT_EQ(types.at("pipe"), static_cast<mode_t>(S_IFIFO));
}

TEST_F(MirroredDirectory, LinksShowAsLinks) {
  mount();
  stdfs::create_symlink("../outside.txt", path_ / "out");
  stdfs::create_symlink("/etc/passwd", path_ / "absolute");
  stdfs::create_symlink("nothing", path_ / "dangling");
  stdfs::create_directory_symlink("sub", path_ / "to_sub");
  for (const char* name : {"out", "absolute", "dangling", "to_sub"}) {
    const auto found = fs_->find_path(name);
    ASSERT_TRUE(found) << name;
    EXPECT_TRUE(S_ISLNK(found->attributes.mode)) << name;
  }
  const InodeId out = fs_->find_path("out")->id;
  EXPECT_EQ(FakeMount::wait<std::string>([&](auto reply) { fs_->readlink(out, std::move(reply)); }).value(),
            "../outside.txt");
  EXPECT_FALSE(cat("out"));
  EXPECT_FALSE(cat("to_sub/deep/also.txt")) << "the kernel follows links, not the mount";
}

TEST_F(MirroredDirectory, NothingOutsideIsReached) {
  mount();
  const auto lookup = [&](InodeId parent, std::string_view name) {
    return FakeMount::wait<FileSystem::Found>([&](auto reply) { fs_->lookup(parent, name, std::move(reply)); });
  };
  EXPECT_FALSE(lookup(kRootId, ".."));
  EXPECT_FALSE(lookup(fs_->find_path("sub")->id, "../../outside.txt"));
  // A directory is replaced by a link to the outside after it was looked up.
  const InodeId deep = fs_->find_path("sub/deep")->id;
  stdfs::rename(path_ / "sub/deep", path_ / "sub/moved");
  stdfs::create_directory_symlink(top_, path_ / "sub/deep");
  EXPECT_FALSE(lookup(deep, "outside.txt"));
  EXPECT_FALSE(FakeMount::wait<HandleId>([&](auto reply) { fs_->opendir(deep, std::move(reply)); }));
}

TEST_F(MirroredDirectory, HidesJournalsAndItself) {
  write("data.root.tfilefs-journal", "");
  mount("sub/deep");
  EXPECT_FALSE(ls("").contains("data.root.tfilefs-journal"));
  EXPECT_FALSE(fs_->find_path("data.root.tfilefs-journal"));
  EXPECT_FALSE(ls("sub").contains("deep"));
  EXPECT_FALSE(fs_->find_path("sub/deep"));
}

TEST(SourceTree, TheSourceMustBeThere) {
  const auto fs = FileSystem::open("/nonexistent/directory", {});
  EXPECT_EQ(fs.error().kind, ErrorKind::not_found);
  EXPECT_EQ(FileSystem::open("/etc/passwd", {}).error().kind, ErrorKind::damaged);
}

}  // namespace
}  // namespace tfilefs
