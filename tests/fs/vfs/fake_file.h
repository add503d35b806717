// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fs/view/array_table.h"
#include "tfile/file.h"
#include "tfile/plot.h"
#include "vfs/file_system.h"
#include "waited.h"

namespace tfilefs {

// Bytes with a state that tests can set.
class VersionedBytes : public MemorySource {
 public:
  using MemorySource::MemorySource;
  const tfile::Identity& identity() const override { return state; }
  Result<tfile::Identity> identity_now() const override { return state; }
  mutable tfile::Identity state{.size = 1000, .modified_ns = 1};
};

// An object without arrays, for a ROOT file that a test composes in memory.
class FakeObject final : public tfile::OneChunkEach<tfile::Object> {
 public:
  FakeObject() {
    nodes.emplace_back();
    parts[0].has_text = true;
  }
  std::size_t stream_count() const override { return 0; }
  tfile::StreamShape shape(tfile::StreamId) const override { return {}; }
  Result<tfile::Locator> locate(tfile::ChunkKey) const override { return tfile::Locator{}; }
  std::uint64_t decoded_size(tfile::ChunkKey) const override { return 0; }
  std::vector<std::int64_t> lengths(tfile::StreamId) const override { return {}; }
  Result<tfile::Chunk> decode(tfile::ChunkKey, std::span<const std::byte>,
                              std::span<const std::shared_ptr<const tfile::Chunk>>,
                              std::span<const std::int64_t>) const override {
    return tfile::Chunk{};
  }
  Result<std::shared_ptr<const tfile::PiecedText>> json(std::span<const std::byte> payload,
                                                        const std::stop_token&) const override {
    auto text = std::make_shared<KeptText>();
    tfile::PiecedText::Piece& piece = text->pieces.emplace_back();
    piece.text = '"' + std::string(reinterpret_cast<const char*>(payload.data()), payload.size()) + "\"\n";
    piece.size = piece.text.size();
    return std::shared_ptr<const tfile::PiecedText>(std::move(text));
  }
  Result<std::shared_ptr<const tfile::PiecedText>> table(std::span<const std::byte>, std::size_t,
                                                         const std::function<std::string(std::string_view)>&,
                                                         const std::stop_token&) const override {
    return nullptr;
  }
  std::string descriptions(std::span<const std::byte>) const override { return {}; }
  Result<tfile::Plot> plot(std::span<const std::byte>, std::size_t, tfile::Effort&) const override { return nothing(); }
  Result<tfile::Spreadsheet> spreadsheet(std::span<const std::byte>, std::size_t, tfile::Effort&) const override {
    return nothing();
  }
  Result<std::string> text(std::span<const std::byte>, std::size_t) const override {
    return tfile::fail(ErrorKind::damaged, "no text after all");
  }

 private:
  struct KeptText final : tfile::PiecedText {
    Result<> make(std::size_t, std::span<const std::byte>, std::span<char>) const override { return nothing(); }
  };
  static tl::unexpected<Error> nothing() { return tfile::fail(ErrorKind::invalid, "nothing"); }
};

class FakeFile : public tfile::File {
 public:
  // A directory of the file; `listing` is given to callers.
  struct Keys {
    std::deque<std::string> strings;  // to which the views in the keys point
    std::shared_ptr<tfile::DirectoryListing> listing = std::make_shared<tfile::DirectoryListing>();
  };

  FakeFile() {
    directories_[kRootSeek].listing->seek = kRootSeek;
    header_.end = 1000;  // all of `bytes`: not a file that is still being filled
  }

  static constexpr std::uint64_t kRootSeek = 100;

  // Adds a key to the directory at `in`, as the first one in file order, and returns its address. With `seek`, a
  // directory can contain itself.
  std::uint64_t add(std::uint64_t in, const std::string& name, tfile::KeyKind kind, std::uint16_t cycle = 1,
                    std::uint64_t seek = 0) {
    Keys& keys = directories_[in];
    tfile::KeyInfo key;
    key.name = keys.strings.emplace_back(name);
    key.title = keys.strings.emplace_back("title of " + name);
    key.class_name = kind == tfile::KeyKind::directory ? "TDirectory"
                     : kind == tfile::KeyKind::table   ? "TTree"
                                                       : "TObjString";
    key.seek = seek ? seek : (next_ += 1000);
    key.cycle = cycle;
    key.datime = datime;
    key.kind = kind;
    keys.listing->keys.insert(keys.listing->keys.begin(), key);
    if (kind == tfile::KeyKind::directory) directories_[key.seek].listing->seek = key.seek;
    return key.seek;
  }
  std::uint64_t object(const std::string& name, const std::string& payload, std::uint16_t cycle = 1) {
    const std::uint64_t seek = add(kRootSeek, name, tfile::KeyKind::object, cycle);
    constexpr std::int64_t kWhole = 1 << 20;  // the payload is one chunk
    auto made = std::make_shared<ArrayTable>(kWhole);
    made->column(0, "payload.u1", tfile::Role::raw, std::vector<char>(payload.begin(), payload.end()));
    tables_[seek] = made;
    return seek;
  }
  std::uint64_t table(const std::string& name, std::shared_ptr<const ArrayTable> made, std::uint16_t cycle = 1) {
    const std::uint64_t seek = add(kRootSeek, name, tfile::KeyKind::table, cycle);
    tables_[seek] = std::move(made);
    return seek;
  }

  const tfile::Source& source() const override { return *bytes; }
  std::shared_ptr<const tfile::Source> shared_source() const override { return bytes; }
  const tfile::FileHeader& header() const override { return header_; }
  bool recovered() const override { return false; }
  const std::vector<std::string>& warnings() const override { return warnings_of_file; }
  std::shared_ptr<const tfile::DirectoryListing> root() const override { return directories_.at(kRootSeek).listing; }
  Result<std::shared_ptr<const tfile::DirectoryListing>> directory(const tfile::KeyInfo& key) const override {
    if (damaged.contains(key.seek)) return tfile::fail(ErrorKind::damaged, "key list is damaged", 77);
    return directories_.at(key.seek).listing;
  }
  Result<std::shared_ptr<const tfile::Table>> table(const tfile::KeyInfo& key) const override {
    ++tables_opened;
    if (out_of_memory.contains(key.seek)) throw std::bad_alloc();
    if (damaged.contains(key.seek)) return tfile::fail(ErrorKind::damaged, "tree is damaged", 88);
    return tables_.at(key.seek);
  }
  Result<std::shared_ptr<const tfile::StreamSet>> payload(const tfile::KeyInfo& key) const override {
    if (damaged.contains(key.seek)) return tfile::fail(ErrorKind::damaged, "object is damaged", 99);
    if (tables_.at(key.seek)->stream_count() > 0) return tables_.at(key.seek);
    auto empty = std::make_shared<ArrayTable>();  // a payload is one stream
    empty->column(0, "object.u1", tfile::Role::raw, std::vector<std::uint8_t>());
    return empty;
  }
  Result<std::shared_ptr<const tfile::FileClasses>> classes() const override {
    return std::make_shared<const tfile::FileClasses>();
  }
  // Objects have no arrays, and their JSON is their payload in quotes.
  bool may_be_drawn(std::string_view class_name) const override { return class_name.starts_with("TH1"); }
  Result<std::shared_ptr<const tfile::Object>> object(const tfile::KeyInfo&,
                                                      std::span<const std::byte>) const override {
    return std::make_shared<const FakeObject>();
  }
  Result<std::vector<tfile::Record>> record_map() const override { return std::vector<tfile::Record>{}; }
  std::size_t memory() const override { return memory_told; }

  std::uint32_t datime = (2020u - 1995) << 26 | 2 << 22 | 3 << 17 | 4 << 12 | 5 << 6 | 6;
  std::vector<std::string> warnings_of_file;
  std::set<std::uint64_t> damaged, out_of_memory;
  std::size_t memory_told = 0;
  mutable std::atomic<int> tables_opened = 0;
  std::shared_ptr<VersionedBytes> bytes =
      std::make_shared<VersionedBytes>(std::vector<std::byte>(1000, std::byte{'x'}));

 private:
  tfile::FileHeader header_;
  std::map<std::uint64_t, Keys> directories_;
  std::map<std::uint64_t, std::shared_ptr<const ArrayTable>> tables_;
  std::uint64_t next_ = 1000;
};

// The storage of a test's file, which the test changes.
struct FakeDisk {
  std::mutex mutex;
  std::shared_ptr<const FakeFile> file;
  std::optional<Error> error;
  std::int64_t version = 1;  // shown as its time of modification
  std::atomic<int> looks = 0, opens = 0;

  void put(std::shared_ptr<const FakeFile> changed) {
    const std::lock_guard lock(mutex);
    file = std::move(changed);
    file->bytes->state.modified_ns = ++version;
  }
  void fail(std::optional<Error> why) {
    const std::lock_guard lock(mutex);
    error = std::move(why);
    file->bytes->state.modified_ns = ++version;
  }
};

class FakeOrigin : public FileLocator {
 public:
  explicit FakeOrigin(std::shared_ptr<FakeDisk> disk) : disk_(std::move(disk)) {}
  Result<SourceState> look() const override {
    const std::lock_guard lock(disk_->mutex);
    ++disk_->looks;
    SourceState state;
    state.identity = disk_->file->source().identity();
    state.from.mode = S_IFREG | 0640;
    state.from.uid = 12;
    state.from.gid = 34;
    state.from.modified = {1000, 0};
    return state;
  }
  Result<std::shared_ptr<const GuardedSource>> open() const override {
    const std::lock_guard lock(disk_->mutex);
    ++disk_->opens;
    if (disk_->error) return tl::unexpected(*disk_->error);
    return GuardedSource::guard(disk_->file->shared_source());
  }
  Result<std::shared_ptr<const tfile::File>> read(std::shared_ptr<const GuardedSource>) const override {
    const std::lock_guard lock(disk_->mutex);
    return disk_->file;
  }

 private:
  const std::shared_ptr<FakeDisk> disk_;
};

// A mount of a FakeFile, used in the manner of system calls.
class FakeMount {
 public:
  explicit FakeMount(std::shared_ptr<const FakeFile> file, FileSystemOptions options = {}) {
    options.cache = {.memory = 16 << 20, .threads = 2, .io_threads = 2};
    disk->file = std::move(file);
    fs = std::make_unique<FileSystem>(std::make_unique<ClusterCache>(options.cache), std::make_unique<FakeOrigin>(disk),
                                      options);
  }

  template <class T, class Call>
  static Result<T> wait(Call call) {
    return waited<T>(std::move(call));
  }

  Result<Attributes> stat(const std::string& path) {
    TRY(const auto found, fs->find_path(path));
    return found.attributes;
  }
  Result<FileSystem::Opened> open(InodeId id, pid_t thread = 0) {
    return wait<FileSystem::Opened>([&](auto reply) { fs->open(id, std::move(reply), nullptr, thread); });
  }
  Result<std::string> read(HandleId handle, std::uint64_t offset = 0, std::size_t size = 1 << 20) {
    TRY(const Slices slices, wait<Slices>([&](auto reply) { fs->read(handle, offset, size, std::move(reply)); }));
    std::string bytes;
    for (const auto piece : slices.pieces) bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return bytes;
  }
  Result<std::string> cat(const std::string& path) {
    TRY(const auto found, fs->find_path(path));
    TRY(const auto opened, open(found.id));
    auto bytes = read(opened.handle);
    fs->release(opened.handle);
    return bytes;
  }
  // The bytes, or "error: " and the reason.
  std::string text(const std::string& path) {
    const auto bytes = cat(path);
    return bytes ? *bytes : "error: " + bytes.error().text;
  }
  template <class T>
  std::vector<T> numbers(const std::string& path) {
    const std::string bytes = cat(path).value_or("");
    std::vector<T> items(bytes.size() / sizeof(T));
    if (!items.empty()) std::memcpy(items.data(), bytes.data(), items.size() * sizeof(T));
    return items;
  }
  Result<std::vector<std::string>> ls(const std::string& path);

  std::shared_ptr<FakeDisk> disk = std::make_shared<FakeDisk>();
  std::unique_ptr<FileSystem> fs;
};

// Takes a few names at a time, as the kernel does with a page.
class PageSink : public DirectorySink {
 public:
  explicit PageSink(std::size_t room) : room_(room) {}
  bool add(const std::string& name, InodeId id, const Attributes& attributes, std::uint64_t next) override {
    if (names.size() == room_) return false;
    names.push_back(name);
    ids.push_back(id);
    numbers.push_back(attributes.number);
    types.push_back(attributes.mode & S_IFMT);
    last = next;
    return true;
  }
  std::vector<std::string> names;
  std::vector<InodeId> ids;
  std::vector<InodeNumber> numbers;
  std::vector<mode_t> types;
  std::uint64_t last = 0;

 private:
  const std::size_t room_;
};

inline Result<std::vector<std::string>> FakeMount::ls(const std::string& path) {
  TRY(const auto found, fs->find_path(path));
  TRY(const HandleId handle, wait<HandleId>([&](auto reply) { fs->opendir(found.id, std::move(reply)); }));
  std::vector<std::string> names;
  for (std::uint64_t offset = 0;;) {
    auto page = std::make_shared<PageSink>(3);
    TRY_VOID(wait<void>([&](auto reply) { fs->readdir(handle, offset, true, page, std::move(reply)); }));
    if (page->names.empty()) break;
    names.insert(names.end(), page->names.begin(), page->names.end());
    for (const InodeId id : page->ids) {
      if (id) fs->forget(id, 1);
    }
    offset = page->last;
  }
  fs->release(handle);
  return names;
}

}  // namespace tfilefs
