// SPDX-License-Identifier: Apache-2.0
#include "remote/disk/disk_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <thread>
#include <type_traits>
#include <utility>

#include "tfile/buffer.h"
#include "tfile/local_file.h"

namespace tfile {
namespace {

constexpr std::uint64_t kMagic =
    0x3143'4b44'5346'4654;  // TFSDKC1; files of a machine of the other byte order have others
constexpr std::uint32_t kGroupMagic = 0x5052'4754;
// A record is read as a whole, to check it; so small reads want small records. As large as what a disk reads at once.
constexpr std::uint32_t kRecordMax = 128 << 10;
constexpr std::uint32_t kEntriesMax = 8192;  // of a group
// A file's notes take some 20 MB of memory. More is not noted.
constexpr std::size_t kPlacesMax = 1 << 18;
// An append takes milliseconds. A process that is stopped while it appends is not waited for.
constexpr std::chrono::milliseconds kLockPause{2};
constexpr int kLockTries = 50;
constexpr std::int64_t kUsePause = 60;  // seconds between two notes of a use

struct Header {
  std::uint64_t magic;
  std::uint64_t key[2];
  std::uint64_t size;
  std::int64_t modified_ns;
  std::uint64_t state;
  std::uint64_t hash;  // of all before it; the seed of all checksums in the file
};
static_assert(sizeof(Header) == 7 * 8);

struct GroupHead {
  std::uint32_t magic;
  std::uint32_t count;       // of entries, which follow
  std::uint64_t bytes;       // which follow the entries
  std::uint64_t table_hash;  // of the entries
  std::uint64_t hash;        // of all before it, and of where the group begins
};
static_assert(sizeof(GroupHead) == 2 * 4 + 3 * 8);

// False, with errno 0, if the file ends before.
bool read_all(int file, void* into, std::size_t size, std::uint64_t at) {
  const auto got = read_up_to(file, at, {static_cast<std::byte*>(into), size});
  errno = got ? 0 : got.error();
  return got == size;
}

bool write(int file, const void* from, std::size_t size, std::uint64_t at) {
  return write_all(file, at, {static_cast<const std::byte*>(from), size}) == 0;
}

std::uint64_t hash_of(const void* bytes, std::size_t size, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, size, seed);
}

std::uint64_t hash_of_header(const Header& header) { return hash_of(&header, offsetof(Header, hash), 0); }

std::uint64_t hash_of_head(const GroupHead& head, std::uint64_t seed, std::uint64_t at) {
  return hash_of(&head, offsetof(GroupHead, hash), seed + at);
}

// The lock of the file against other appends, of this process and of others; given back when this ends.
class AppendLock {
 public:
  explicit AppendLock(int file) : file_(file) {
    for (int tries = 0; tries < kLockTries; ++tries) {
      is_held_ = ::flock(file_, LOCK_EX | LOCK_NB) == 0;
      if (is_held_ || errno != EWOULDBLOCK) return;
      std::this_thread::sleep_for(kLockPause);
    }
  }
  AppendLock(const AppendLock&) = delete;
  AppendLock& operator=(const AppendLock&) = delete;
  ~AppendLock() {
    if (is_held_) ::flock(file_, LOCK_UN);
  }
  explicit operator bool() const { return is_held_; }

 private:
  const int file_;
  bool is_held_ = false;
};

}  // namespace

struct DiskLog::Entry {
  std::uint64_t begin;  // in the remote file
  std::uint64_t hash;   // of the bytes, and of where they lie in the remote file
  std::uint32_t size;
  std::uint32_t unused;
};

std::shared_ptr<DiskLog> DiskLog::open(Descriptor file, const DiskKey& key) {
  Header header;
  if (!read_all(file.get(), &header, sizeof header, 0)) return nullptr;
  if (header.magic != kMagic || header.hash != hash_of_header(header)) return nullptr;
  if (header.key[0] != key[0] || header.key[1] != key[1]) return nullptr;
  const Identity identity{header.size, header.modified_ns, {}, header.state};
  return std::shared_ptr<DiskLog>(new DiskLog(std::move(file), identity, header.hash));
}

std::shared_ptr<DiskLog> DiskLog::begin(Descriptor file, const DiskKey& key, const Identity& identity) {
  Header header{kMagic, {key[0], key[1]}, identity.size, identity.modified_ns, identity.state, 0};
  header.hash = hash_of_header(header);
  if (!write(file.get(), &header, sizeof header, 0)) return nullptr;
  return open(std::move(file), key);
}

DiskLog::DiskLog(Descriptor file, const Identity& identity, std::uint64_t seed)
    : file_(std::move(file)), identity_(identity), seed_(seed), end_(sizeof(Header)) {}

bool DiskLog::is_of(const Identity& other) const {
  return identity_.size == other.size && identity_.modified_ns == other.modified_ns && identity_.state == other.state;
}

// ---- what is there

std::uint64_t DiskLog::end() const {
  const Lock lock(mutex_);
  return end_;
}

// False if there is no whole group.
bool DiskLog::read_group(std::uint64_t at, std::uint64_t file_size, Group& group) const {
  const std::uint64_t left = file_size - at;
  GroupHead head;
  if (left < sizeof head || !read_all(file_.get(), &head, sizeof head, at)) return false;
  if (head.magic != kGroupMagic || head.hash != hash_of_head(head, seed_, at)) return false;
  const std::uint64_t table = std::uint64_t{head.count} * sizeof(Entry);
  if (head.count > kEntriesMax || table > left - sizeof head || head.bytes > left - sizeof head - table) return false;
  group.entries.resize(head.count);
  if (!read_all(file_.get(), group.entries.data(), table, at + sizeof head)) return false;
  if (hash_of(group.entries.data(), table, seed_) != head.table_hash) return false;
  std::uint64_t bytes = 0;
  for (const Entry& entry : group.entries) {
    if (entry.size == 0 || entry.size > kRecordMax || entry.begin > identity_.size) return false;
    if (entry.size > identity_.size - entry.begin) return false;
    bytes += entry.size;
  }
  group.bytes_at = at + sizeof head + table;
  group.end = group.bytes_at + bytes;
  return bytes == head.bytes;
}

void DiskLog::scan() {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) return;
  const auto file_size = static_cast<std::uint64_t>(status.st_size);
  Group group;
  for (;;) {
    const std::uint64_t at = end();
    if (at >= file_size || !read_group(at, file_size, group)) return;
    const Lock lock(mutex_);
    if (end_ == at) note(group);
  }
}

// A record takes the place of those that it overlaps: what it was appended for was not found in them, or not right.
void DiskLog::note(const Group& group) {
  std::uint64_t at = group.bytes_at;
  for (const Entry& entry : group.entries) {
    auto next = places_.lower_bound(entry.begin);
    if (next != places_.begin())
      if (const auto before = std::prev(next); before->first + before->second.size > entry.begin) places_.erase(before);
    while (next != places_.end() && next->first < entry.begin + entry.size) next = places_.erase(next);
    if (places_.size() < kPlacesMax) places_.emplace_hint(next, entry.begin, Place{at, entry.hash, entry.size});
    at += entry.size;
  }
  end_ = group.end;
}

void DiskLog::forget(std::uint64_t begin, const Place& place) {
  const Lock lock(mutex_);
  const auto found = places_.find(begin);
  if (found != places_.end() && found->second.at == place.at) places_.erase(found);
}

// The place that holds this byte; else the first one behind it.
DiskLog::Places::const_iterator DiskLog::first_at(std::uint64_t begin) const {
  const auto behind = places_.upper_bound(begin);
  if (behind == places_.begin()) return behind;
  const auto before = std::prev(behind);
  return begin < before->first + before->second.size ? before : behind;
}

// The known parts of the range, and the rest, by address.
DiskLog::Split DiskLog::split(ByteRange range) const {
  Split split;
  const Lock lock(mutex_);
  std::uint64_t at = range.begin;
  for (auto next = first_at(at); next != places_.end() && next->first < range.end(); ++next) {
    if (next->first > at) split.missing.push_back({at, next->first - at});
    split.known.push_back(*next);
    at = next->first + next->second.size;
  }
  if (at < range.end()) split.missing.push_back({at, range.end() - at});
  return split;
}

bool DiskLog::has(ByteRange range) const { return split(range).missing.empty(); }

// ---- reading

// The bytes `wanted`, which lie in the record. False if they are not right.
bool DiskLog::read_record(std::uint64_t begin, const Place& place, ByteRange wanted, std::span<std::byte> into) {
  const bool is_all = wanted.size == place.size;
  Buffer record(is_all ? 0 : place.size);
  std::byte* const bytes = is_all ? into.data() : record.data();
  if (!read_all(file_.get(), bytes, place.size, place.at)) {
    if (errno != 0) has_failed_ = true;
    return false;
  }
  if (hash_of(bytes, place.size, seed_ + begin) != place.hash) return false;
  if (!is_all) std::memcpy(into.data(), bytes + (wanted.begin - begin), wanted.size);
  return true;
}

std::vector<ByteRange> DiskLog::read(ByteRange range, std::span<std::byte> into) {
  const Split split = this->split(range);
  std::vector<ByteRange> rest = split.missing;
  for (const auto& [begin, place] : split.known) {
    const std::uint64_t from = std::max(begin, range.begin), to = std::min(begin + place.size, range.end());
    if (read_record(begin, place, {from, to - from}, into.subspan(from - range.begin, to - from))) continue;
    forget(begin, place);
    rest.push_back({from, to - from});
  }
  std::ranges::sort(rest, {}, &ByteRange::begin);
  return rest;
}

void DiskLog::note_use() const {
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  {
    const Lock lock(mutex_);
    if (used_ != 0 && now - used_ < kUsePause) return;
    used_ = now;
  }
  ::futimens(file_.get(), nullptr);
}

void DiskLog::remove(int directory, const std::string& name) const {
  struct stat own {
  }, named{};
  if (::fstat(file_.get(), &own) != 0) return;
  if (::fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (own.st_dev == named.st_dev && own.st_ino == named.st_ino) ::unlinkat(directory, name.c_str(), 0);
}

// ---- appending

// The head comes last: before it is there, the group is none.
bool DiskLog::write_group(std::uint64_t at, std::span<const FilePiece> pieces) const {
  std::vector<Entry> entries;
  for (const FilePiece& piece : pieces)
    for (std::size_t done = 0; done < piece.bytes.size(); done += kRecordMax) {
      const auto bytes = piece.bytes.subspan(done, std::min<std::size_t>(kRecordMax, piece.bytes.size() - done));
      const std::uint64_t begin = piece.begin + done;
      entries.push_back(
          {begin, hash_of(bytes.data(), bytes.size(), seed_ + begin), static_cast<std::uint32_t>(bytes.size()), 0});
    }
  const std::size_t table = entries.size() * sizeof(Entry);
  GroupHead head{kGroupMagic, static_cast<std::uint32_t>(entries.size()), 0, hash_of(entries.data(), table, seed_), 0};
  std::uint64_t bytes_at = at + sizeof head + table;
  for (const FilePiece& piece : pieces) {
    if (!write(file_.get(), piece.bytes.data(), piece.bytes.size(), bytes_at)) return false;
    bytes_at += piece.bytes.size();
    head.bytes += piece.bytes.size();
  }
  head.hash = hash_of_head(head, seed_, at);
  return write(file_.get(), entries.data(), table, at + sizeof head) && write(file_.get(), &head, sizeof head, at);
}

DiskLog::Appended DiskLog::append(std::span<const FilePiece> pieces) {
  const AppendLock lock(file_.get());
  if (!lock) return Appended::busy;
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) return Appended::failed;
  if (status.st_nlink == 0) return Appended::gone;
  scan();
  std::vector<FilePiece> fresh;
  std::uint64_t entries = 0;
  const auto write_fresh = [&] {
    const std::uint64_t at = end();
    const bool is_written = fresh.empty() || write_group(at, fresh);
    if (!is_written) static_cast<void>(::ftruncate(file_.get(), static_cast<off_t>(at)));
    fresh.clear();
    entries = 0;
    if (is_written) scan();
    return is_written;
  };
  for (const FilePiece& piece : pieces) {
    if (piece.begin > identity_.size || piece.bytes.size() > identity_.size - piece.begin) continue;
    for (const ByteRange range : split({piece.begin, piece.bytes.size()}).missing) {
      const std::uint64_t more = (range.size + kRecordMax - 1) / kRecordMax;
      if (more > kEntriesMax) continue;
      if (entries + more > kEntriesMax && !write_fresh()) return Appended::failed;
      fresh.push_back({range.begin, piece.bytes.subspan(range.begin - piece.begin, range.size)});
      entries += more;
    }
  }
  return write_fresh() ? Appended::done : Appended::failed;
}

}  // namespace tfile
