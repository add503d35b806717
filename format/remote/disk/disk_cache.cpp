// SPDX-License-Identifier: Apache-2.0
#include "remote/disk/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "remote/disk/disk_threads.h"
#include "remote/server/held_edges.h"
#include "tfile/buffer.h"

namespace tfile {
namespace {

constexpr std::string_view kSuffix = ".tfc";
constexpr std::size_t kNameSize = 32 + kSuffix.size();
constexpr const char* kLockName = "lock";
// After so many parts of what the directory may hold have been appended, it is looked at.
constexpr std::uint64_t kTrimParts = 64;
constexpr int kBeginTries = 8;
// Dates are whole seconds, and clocks differ. A file that was changed just now may change again, to the same date.
constexpr std::chrono::seconds kSettled{10};

std::string name_of(const DiskKey& key) {
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%016llx%016llx", static_cast<unsigned long long>(key[0]),
                static_cast<unsigned long long>(key[1]));
  return text.data() + std::string(kSuffix);
}

Result<Descriptor> open_directory(const std::string& path) {
  const auto failed = [&](ErrorKind kind) { return fail(kind, path + ": " + std::strerror(errno), -1, errno); };
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return failed(ErrorKind::io);
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return failed(errno == ENOTDIR ? ErrorKind::invalid : ErrorKind::io);
  struct stat status {};
  if (::fstat(directory.get(), &status) != 0) return failed(ErrorKind::io);
  if (status.st_uid != ::geteuid()) return fail(ErrorKind::denied, path + ": belongs to another user");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return fail(ErrorKind::denied, path + ": others may write to it");
  return directory;
}

// No link, no device, and no file of somebody else, or that others may write, is followed; nor one that has another
// name, under which it may be something else.
Descriptor open_file(int directory, const std::string& name, int flags) {
  const int all_flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags;
  Descriptor file(::openat(directory, name.c_str(), O_RDWR | all_flags, 0600));
  // A file that cannot be written can still be read.
  if (!file && errno == EROFS) file = Descriptor(::openat(directory, name.c_str(), O_RDONLY | all_flags, 0600));
  struct stat status {};
  const bool is_known = file && ::fstat(file.get(), &status) == 0;
  const bool is_own = is_known && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() && status.st_nlink <= 1;
  return is_own && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 ? std::move(file) : Descriptor();
}

// The same; what stands there and is no file of this user goes.
Descriptor make_file(int directory, const std::string& name) {
  Descriptor file = open_file(directory, name, O_CREAT);
  if (!file && ::unlinkat(directory, name.c_str(), 0) == 0) file = open_file(directory, name, O_CREAT);
  return file;
}

struct CachedFile {
  std::string name;
  timespec used{};
  std::uint64_t bytes = 0;
};

std::vector<CachedFile> files_of(int directory) {
  std::vector<CachedFile> files;
  const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listing = copy < 0 ? nullptr : ::fdopendir(copy);
  if (!listing) return files;
  while (const dirent* const entry = ::readdir(listing)) {
    const std::string_view name = entry->d_name;
    struct stat status {};
    if (name.size() != kNameSize || !name.ends_with(kSuffix)) continue;
    if (::fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) continue;
    files.push_back({std::string(name), status.st_mtim, static_cast<std::uint64_t>(status.st_blocks) * 512});
  }
  ::closedir(listing);
  return files;
}

// Removes the files that were used longest ago until so much is left. One process at a time does, unless no lock can be
// made: then some may remove more than they need.
void remove_oldest(int directory, std::uint64_t bytes_max) {
  const Descriptor lock = make_file(directory, kLockName);
  if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return;
  std::vector<CachedFile> files = files_of(directory);
  std::uint64_t bytes = 0;
  for (const CachedFile& file : files) bytes += file.bytes;
  const auto age = [](const CachedFile& file) { return std::pair(file.used.tv_sec, file.used.tv_nsec); };
  std::ranges::sort(files, {}, age);
  for (const CachedFile& file : files) {
    if (bytes <= bytes_max) return;
    ::unlinkat(directory, file.name.c_str(), 0);
    bytes -= file.bytes;
  }
}

bool is_settled(const Identity& identity) {
  const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
  return identity.modified_ns <= (now - kSettled).count();
}

}  // namespace

Result<> make_cache_directory(const std::string& path) {
  TRY(const Descriptor directory, open_directory(path));
  return {};
}

struct DiskFile::Copies {
  std::vector<Buffer> bytes;
  std::vector<FilePiece> pieces;
};

DiskFile::DiskFile(const RemoteOptions& options, const DiskKey& key)
    : directory_(options.cache_directory),
      name_(name_of(key)),
      key_(key),
      bytes_max_(options.cache_bytes),
      edges_(tfile::held_edges(options)) {}

std::shared_ptr<DiskFile> DiskFile::find(const RemoteOptions& options, const std::string& url) {
  if (options.cache_directory.empty()) return nullptr;
  const XXH128_hash_t hash = XXH3_128bits(url.data(), url.size());
  auto found = std::make_shared<DiskFile>(options, DiskKey{hash.high64, hash.low64});
  const auto directory = open_directory(found->directory_);
  if (!directory) {
    found->note_failure();
    return found;
  }
  if (Descriptor file = open_file(directory->get(), found->name_, 0)) {
    std::shared_ptr<DiskLog> log = DiskLog::open(std::move(file), found->key_);
    if (log) log->scan();
    const Lock lock(found->mutex_);
    found->log_ = std::move(log);
  }
  return found;
}

std::shared_ptr<DiskLog> DiskFile::log() const {
  const Lock lock(mutex_);
  return log_;
}

bool DiskFile::has_edges() const {
  const auto log = this->log();
  if (!log) return false;
  const std::uint64_t size = log->identity().size;
  const std::uint64_t end = edges_.end_from(size);
  return log->has({0, std::min(size, edges_.begin)}) && log->has({end, size - end});
}

void DiskFile::use(const Identity& identity) {
  identity_ = identity;
  const auto found = log();
  const bool is_same = found && found->is_of(identity);
  if (is_same) found->note_use();
  hits_in_row_ = is_same && has_edges() ? kHitsWarm : 0;
  is_used_ = is_settled(identity) && !has_failed_;
  if (is_used_ && !is_same) begin_log();
}

// ---- the file of the cache

// An empty file for the state, or one that another process has begun meanwhile. A process with the file of another
// state open goes on with it.
std::shared_ptr<DiskLog> DiskFile::begin_log_at(int directory) const {
  for (int tries = 0; tries < kBeginTries; ++tries) {
    Descriptor file = make_file(directory, name_);
    if (!file) return nullptr;
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      // Another process begins it, or appends to it.
      auto other = DiskLog::open(std::move(file), key_);
      if (other && other->is_of(identity_)) return other;
      ::usleep(2000);
      continue;
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return nullptr;
    if (status.st_nlink == 0) continue;
    const int descriptor = file.get();
    std::shared_ptr<DiskLog> log =
        status.st_size == 0 ? DiskLog::begin(std::move(file), key_, identity_) : DiskLog::open(std::move(file), key_);
    if (log && log->is_of(identity_)) {
      ::flock(descriptor, LOCK_UN);
      return log;
    }
    if (::unlinkat(directory, name_.c_str(), 0) != 0 || status.st_size == 0) return nullptr;
  }
  return nullptr;
}

std::shared_ptr<DiskLog> DiskFile::begin_log() {
  const auto directory = open_directory(directory_);
  std::shared_ptr<DiskLog> begun = directory ? begin_log_at(directory->get()) : nullptr;
  if (!begun) note_failure();
  if (begun) begun->scan();
  std::shared_ptr<DiskLog> before;  // closed without the lock
  const Lock lock(mutex_);
  before = std::exchange(log_, begun);
  return begun;
}

void DiskFile::note_failure() {
  if (!has_failed_.exchange(true)) ++failures_;
}

void DiskFile::discard() {
  is_used_ = false;
  const auto log = this->log();
  const auto directory = open_directory(directory_);
  if (log && directory) log->remove(directory->get(), name_);
}

// ---- reading and keeping

std::vector<ByteRange> DiskFile::read(ByteRange range, std::span<std::byte> into) {
  const auto log = is_used_ ? this->log() : nullptr;
  if (!log || log->has_failed()) return {range};
  std::vector<ByteRange> rest;
  for (const ByteRange unknown : log->read(range, into)) {
    log->scan();  // other processes append, too
    const auto left = log->read(unknown, into.subspan(unknown.begin - range.begin, unknown.size));
    rest.insert(rest.end(), left.begin(), left.end());
  }
  if (log->has_failed()) note_failure();
  std::uint64_t missing = 0;
  for (const ByteRange& one : rest) missing += one.size;
  if (missing < range.size) log->note_use();
  if (missing == 0 && range.size > 0) ++hits_;
  bytes_ += range.size - missing;
  return rest;
}

void DiskFile::keep(std::span<const FilePiece> pieces) {
  if (!is_used_ || has_failed_) return;
  auto copies = std::make_shared<Copies>();
  std::uint64_t size = 0;
  for (const FilePiece& piece : pieces) {
    Buffer& copy = copies->bytes.emplace_back(piece.bytes.size());
    std::memcpy(copy.data(), piece.bytes.data(), piece.bytes.size());
    copies->pieces.push_back({piece.begin, copy.span()});
    size += piece.bytes.size();
  }
  start_disk_write(size, [self = shared_from_this(), copies] { self->write(copies->pieces); });
}

void DiskFile::write(std::span<const FilePiece> pieces) {
  auto log = this->log();
  if (!log || !is_used_ || has_failed_) return;
  std::uint64_t begin = log->end();
  auto appended = log->append(pieces);
  if (appended == DiskLog::Appended::gone) {
    log = begin_log();
    if (!log) return;
    begin = log->end();
    appended = log->append(pieces);
  }
  if (appended == DiskLog::Appended::failed) note_failure();
  trim(log->end() - std::min(begin, log->end()));
}

// Leaves room for what is appended before the next look, by all files of this process together: each look costs as much
// as there are files in the directory. The first is at once.
void DiskFile::trim(std::uint64_t appended) {
  // To directories, since the last look. Never destroyed, as the thread.
  static auto& appended_to = *new std::map<std::string, std::uint64_t>;
  const std::uint64_t part = bytes_max_ / kTrimParts;
  std::uint64_t& untrimmed = appended_to.try_emplace(directory_, part).first->second;
  untrimmed += appended;
  if (untrimmed < part) return;
  untrimmed = 0;
  if (const auto directory = open_directory(directory_)) remove_oldest(directory->get(), bytes_max_ - part);
}

void DiskFile::add_counts(SourceCounts& counts) const {
  counts.disk_hits += hits_;
  counts.disk_bytes += bytes_;
  counts.disk_failures += failures_;
}

}  // namespace tfile
