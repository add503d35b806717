// SPDX-License-Identifier: Apache-2.0
// A request that is given up, at whatever access to its file, is answered, and the file is accessed no more for it.
#include <gtest/gtest.h>

#include <numeric>
#include <stop_token>

#include "fake_file.h"

namespace tfilefs {
namespace {

// The accesses to a file, at one of which the process that asks is killed.
struct Accesses {
  void reach() {
    if (++count == killed_at) killed.request_stop();
  }
  std::atomic<int> count = 0;
  int killed_at = 0;
  std::stop_source killed;
};
using AccessesPtr = std::shared_ptr<Accesses>;

class AccessedTable final : public ArrayTable {
 public:
  explicit AccessedTable(AccessesPtr accesses) : accesses_(std::move(accesses)) {}
  Result<tfile::Extents> extents(tfile::StreamId stream) const override {
    accesses_->reach();
    return ArrayTable::extents(stream);
  }
  Result<Counted> count(tfile::ChunkKey key, std::span<const std::byte> stored,
                        std::span<const std::shared_ptr<const tfile::Chunk>> inputs) const override {
    accesses_->reach();
    return ArrayTable::count(key, stored, inputs);
  }

 private:
  const AccessesPtr accesses_;
};

class AccessedFile final : public FakeFile {
 public:
  explicit AccessedFile(AccessesPtr accesses) : accesses_(std::move(accesses)) {}
  Result<std::shared_ptr<const tfile::DirectoryListing>> directory(const tfile::KeyInfo& key) const override {
    accesses_->reach();
    return FakeFile::directory(key);
  }
  Result<std::shared_ptr<const tfile::Table>> table(const tfile::KeyInfo& key) const override {
    accesses_->reach();
    return FakeFile::table(key);
  }
  Result<std::shared_ptr<const tfile::StreamSet>> payload(const tfile::KeyInfo& key) const override {
    accesses_->reach();
    return FakeFile::payload(key);
  }
  Result<std::shared_ptr<const tfile::Object>> object(const tfile::KeyInfo& key,
                                                      std::span<const std::byte> payload_bytes) const override {
    accesses_->reach();
    return FakeFile::object(key, payload_bytes);
  }

 private:
  const AccessesPtr accesses_;
};

class AccessedOrigin final : public FakeOrigin {
 public:
  AccessedOrigin(std::shared_ptr<FakeDisk> disk, AccessesPtr accesses)
      : FakeOrigin(std::move(disk)), accesses_(std::move(accesses)) {}
  Result<SourceState> look() const override {
    accesses_->reach();
    return FakeOrigin::look();
  }

 private:
  const AccessesPtr accesses_;
};

constexpr int kColumns = 6;

std::shared_ptr<const FakeFile> accessed_file(const AccessesPtr& accesses) {
  auto table = std::make_shared<AccessedTable>(accesses);
  table->name = "Events";
  std::vector<std::int32_t> numbers(30);
  std::iota(numbers.begin(), numbers.end(), 0);
  table->entries = std::ssize(numbers);
  for (int i = 0; i < kColumns; ++i) table->column(0, "c" + std::to_string(i) + ".i4", tfile::Role::values, numbers);
  table->string(0, "s", std::vector<std::string>(numbers.size(), "text"));
  table->column(0, "counted.i4", tfile::Role::values, numbers);
  table->counted_stream = static_cast<tfile::StreamId>(table->stream_count() - 1);
  auto file = std::make_shared<AccessedFile>(accesses);
  FakeFile& keys = *file;
  keys.table("Events", table);
  keys.object("note", "the bytes");
  keys.add(keys.add(FakeFile::kRootSeek, "d", tfile::KeyKind::directory), "inner", tfile::KeyKind::directory);
  return file;
}

// A program that looks a path up, and lists or reads what is there, until it is killed.
class KilledProgram {
 public:
  explicit KilledProgram(int killed_at) {
    accesses_->killed_at = killed_at;
    FileSystemOptions options;
    options.views_listed = true;
    options.cache = {.memory = 16 << 20, .threads = 2, .io_threads = 2};
    auto disk = std::make_shared<FakeDisk>();
    disk->file = accessed_file(accesses_);
    fs_ = std::make_unique<FileSystem>(std::make_unique<ClusterCache>(options.cache),
                                       std::make_unique<AccessedOrigin>(disk, accesses_), options);
  }

  // The number of accesses.
  int run(const std::vector<std::string>& path) {
    go(path);
    fs_.reset();  // waits for what still runs
    return accesses_->count;
  }

 private:
  void go(const std::vector<std::string>& path) {
    InodeId id = kRootId;
    bool is_directory = true;
    for (const std::string& name : path) {
      const auto found = ask<FileSystem::Found>([&](auto reply) { fs_->lookup(id, name, std::move(reply)); });
      if (!found) return;
      id = found->id;
      is_directory = S_ISDIR(found->attributes.mode);
    }
    if (!ask<Attributes>([&](auto reply) { fs_->getattr(id, std::move(reply)); })) return;
    if (!ask<std::string>([&](auto reply) { fs_->listxattr(id, std::move(reply)); })) return;
    is_directory ? list(id) : read(id);
  }
  void list(InodeId id) {
    const auto handle = ask<HandleId>([&](auto reply) { fs_->opendir(id, std::move(reply)); });
    if (!handle) return;
    auto page = std::make_shared<PageSink>(100);
    (void)ask<void>([&](auto reply) { fs_->readdir(*handle, 0, true, page, std::move(reply)); });
    fs_->release(*handle);
  }
  void read(InodeId id) {
    const auto opened = ask<FileSystem::Opened>([&](auto reply) { fs_->open(id, std::move(reply)); });
    if (!opened) return;
    (void)ask<Slices>([&](auto reply) { fs_->read(opened->handle, 0, 4096, std::move(reply)); });
    fs_->release(opened->handle);
  }

  // Nothing more is asked by who was killed.
  template <class T, class Call>
  Result<T> ask(const Call& call) {
    if (accesses_->killed.stop_requested()) return cancelled();
    return FakeMount::wait<T>([&](Reply<T> reply) {
      reply.set_stop_token(accesses_->killed.get_token());
      call(std::move(reply));
    });
  }

  const AccessesPtr accesses_ = std::make_shared<Accesses>();
  std::unique_ptr<FileSystem> fs_;
};

class StoppedRequests : public testing::TestWithParam<std::pair<std::vector<std::string>, int>> {};

TEST_P(StoppedRequests, AccessTheFileNoMore) {
  const auto& [path, expected] = GetParam();
  const int all = KilledProgram(0).run(path);
  EXPECT_GE(all, expected);
  for (int killed_at = 1; killed_at <= all; ++killed_at)
    EXPECT_LE(KilledProgram(killed_at).run(path), killed_at + 1) << "killed at access " << killed_at << " of " << all;
}

using Path = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(Paths, StoppedRequests,
                         testing::Values(std::pair(Path{"d"}, 2), std::pair(Path{"Events"}, 2),
                                         std::pair(Path{"Events", "c1.i4"}, 2),
                                         std::pair(Path{"Events", "counted.i4"}, 5),
                                         std::pair(Path{"Events", "s.txt"}, 2), std::pair(Path{"Events.parquet"}, 2),
                                         std::pair(Path{"Events", "counted.i4.npy"}, 5),
                                         std::pair(Path{"note", "object.json"}, 3)));

}  // namespace
}  // namespace tfilefs
