// SPDX-License-Identifier: Apache-2.0
// The kernel has zeros behind the end of a file in its last page, which readers must not get once the file has grown.
#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "fs/vfs/written_directory.h"

namespace tfilefs {
namespace {

class ToldSizes : public testing::Test, protected WrittenDirectory {
 protected:
  ToldSizes() {
    make_column("f.root", "x.i4", std::string(400, 'x'));
    EXPECT_TRUE(commit("f.root"));
    KernelNotices kernel;
    kernel.grow_pages = [this](InodeId id, std::uint64_t old_size, std::uint64_t size, std::byte last) {
      EXPECT_EQ(id, column_);
      EXPECT_EQ(last, std::byte('y'));
      const std::scoped_lock lock(mutex_);
      grown_.push_back({old_size, size});
    };
    fs_->set_kernel(std::move(kernel));
    column_ = id_of("f.root/T/x.i4");
  }
  ~ToldSizes() override { fs_.reset(); }

  using Grown = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // from, to
  Grown grown() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(grown_, {});
  }
  HandleId open(void (FileSystem::*how)(InodeId, Reply<FileSystem::Opened>, const CallerPtr&, pid_t)) {
    return ask<FileSystem::Opened>([&](auto reply) { ((*fs_).*how)(column_, std::move(reply), nullptr, 0); })
        .get()
        ->handle;
  }
  void append(std::size_t bytes) {
    const HandleId handle = open(&FileSystem::open_only_to_write);
    EXPECT_TRUE(write(handle, told(), std::string(bytes, 'y')).get());
    close(handle);
  }
  std::uint64_t told() {
    return ask<Attributes>([&](auto reply) { fs_->getattr(column_, std::move(reply)); }).get()->size;
  }

  InodeId column_ = 0;

 private:
  std::mutex mutex_;
  Grown grown_;
};

TEST_F(ToldSizes, OfAFileThatNobodyReads) {
  append(4);
  EXPECT_EQ(told(), 404);
  EXPECT_EQ(grown(), Grown());
}

TEST_F(ToldSizes, TheLastPageGoesBeforeALargerOne) {
  const HandleId reader = open(&FileSystem::open);
  EXPECT_EQ(told(), 400);
  EXPECT_EQ(grown(), Grown());
  append(4);
  EXPECT_EQ(told(), 404);
  EXPECT_EQ(grown(), (Grown{{400, 404}}));
  EXPECT_EQ(told(), 404);
  EXPECT_EQ(grown(), Grown());
  append(4);
  EXPECT_EQ(id_of("f.root/T/x.i4"), column_);
  EXPECT_EQ(grown(), (Grown{{404, 408}})) << "a look-up tells the size as well";
  fs_->release(reader);
  append(4);
  EXPECT_EQ(told(), 412);
  EXPECT_EQ(grown(), (Grown{{408, 412}})) << "pages stay after the last reader";
}

TEST_F(ToldSizes, AfterACut) {
  append(8);
  const HandleId reader = open(&FileSystem::open);
  EXPECT_EQ(told(), 408);
  grown();
  AttributeChange cut;
  cut.size = 404;
  EXPECT_EQ(ask<Attributes>([&](auto reply) { fs_->change(column_, cut, std::move(reply)); }).get()->size, 404);
  append(4);
  EXPECT_EQ(told(), 408);
  EXPECT_EQ(grown(), (Grown{{404, 408}}));
  fs_->release(reader);
}

}  // namespace
}  // namespace tfilefs
