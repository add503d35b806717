// SPDX-License-Identifier: Apache-2.0
#include "staging/journal/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "staging/journal/file_place.h"
#include "tfile/errnos.h"
#include "tfile/local_file.h"

namespace tfilefs {
namespace {

// Most records of a journal: with this limit, what replay keeps of them (less than 150 bytes each, and texts) stays
// within half a gigabyte.
constexpr std::size_t kRecordsMax = std::size_t{1} << 22;
// Total size of the paths, titles and heads that replay keeps.
constexpr std::uint64_t kTextBytesMax = 256u << 20;
// The size of a read during replay.
constexpr std::size_t kPiece = 1 << 20;
// A program that only reads a journal holds the lock for some microseconds, unless its thread is stopped just then. A
// writer that finds it taken tries again for kLooksLast before it reports another writer.
constexpr std::chrono::milliseconds kLooksLast{50}, kAskAgain{1};

Error journal_error(const char* what, int number) {
  const bool full = number == ENOSPC || number == EDQUOT;
  return {full ? ErrorKind::no_space : ErrorKind::io, std::string(what) + ": " + std::strerror(number), -1, number};
}

tl::unexpected<Error> system_failure(const char* what, int number) {
  return tl::unexpected(journal_error(what, number));
}

iovec part_of(std::span<const std::byte> bytes) { return {const_cast<std::byte*>(bytes.data()), bytes.size()}; }

// A record in one call, where the file system takes all of it.
Result<> write_all(int fd, std::array<iovec, 2> parts, std::uint64_t offset) {
  const int number = tfile::write_all(fd, offset, parts);
  return number == 0 ? Result<>() : system_failure("journal cannot be written", number);
}

Result<> write_all(int fd, std::span<const std::byte> bytes, std::uint64_t offset) {
  return write_all(fd, {part_of(bytes), iovec{nullptr, 0}}, offset);
}

// Fills `into`, or less at the end of the file.
Result<std::size_t> read_up_to(int fd, std::uint64_t offset, std::span<std::byte> into) {
  const auto got = tfile::read_up_to(fd, offset, into);
  return got ? Result<std::size_t>(*got) : system_failure("journal cannot be read", got.error());
}

tl::unexpected<Error> busy(int fd) {
  std::array<std::byte, kJournalHeadSize> bytes;
  std::string who = "another process";
  if (const auto got = read_up_to(fd, 0, bytes); got && *got == bytes.size())
    if (const auto head = decode_head(bytes)) who = "process " + std::to_string(head->pid);
  return tfile::fail(ErrorKind::busy, who + " is writing this file");
}

// Opens an existing journal: a plain file, not a link to one.
Result<Descriptor> open_existing(int directory_fd, const std::string& name, int flags) {
  Descriptor file(::openat(directory_fd, name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return no_such_entry("no journal");
    if (errno == ELOOP) return tfile::fail(ErrorKind::denied, "journal is a symbolic link");
    return system_failure("journal cannot be opened", errno);
  }
  struct stat status;
  if (::fstat(file.get(), &status) != 0) return system_failure("journal cannot be examined", errno);
  if (!S_ISREG(status.st_mode)) return tfile::fail(ErrorKind::denied, "journal is not a regular file");
  return file;
}

Result<Descriptor> duplicate(int directory_fd) {
  Descriptor directory(::fcntl(directory_fd, F_DUPFD_CLOEXEC, 0));
  if (!directory) return system_failure("journal directory cannot be opened", errno);
  return directory;
}

// Whether `name` still belongs to the file that `fd` has open.
bool is_named(int directory_fd, const std::string& name, int fd) {
  struct stat by_name, by_fd;
  return ::fstatat(directory_fd, name.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(fd, &by_fd) == 0 &&
         by_name.st_ino == by_fd.st_ino && by_name.st_dev == by_fd.st_dev;
}

Result<> lock_to_write(int fd) {
  const auto deadline = std::chrono::steady_clock::now() + kLooksLast;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return system_failure("journal cannot be locked", errno);
    if (std::chrono::steady_clock::now() >= deadline) return busy(fd);
    std::this_thread::sleep_for(kAskAgain);
  }
  return {};
}

// Error: busy, if there is a writer.
Result<> check_nobody_writes(int fd) {
  while (::flock(fd, LOCK_SH | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return busy(fd);
    if (errno != EINTR) return system_failure("journal cannot be locked", errno);
  }
  ::flock(fd, LOCK_UN);
  return {};
}

Result<> write_pid(int fd, std::uint64_t salt) {
  return write_all(fd, encode_head({.pid = static_cast<std::uint32_t>(::getpid()), .salt = salt}), 0);
}

// Whether head and first record reached the disk, at least in part. They are synced before anything else is written, so
// if there are only zeros or nothing in their place, the crash came before that.
Result<bool> has_begun(int fd) {
  std::array<std::byte, kJournalHeadSize + kRecordHeaderSize> bytes{};
  TRY(const std::size_t got, read_up_to(fd, 0, bytes));
  if (!may_have_begun(std::span(bytes).first(got))) return true;  // another program's file: decode_head() says so
  const auto is_zero = [](std::span<const std::byte> part) {
    return std::ranges::all_of(part, [](std::byte b) { return b == std::byte{0}; });
  };
  return got == bytes.size() && !is_zero(std::span(bytes).first(kJournalHeadSize)) &&
         !is_zero(std::span(bytes).subspan(kJournalHeadSize));
}

std::uint64_t new_salt() {
  std::uint64_t salt = 0;
  if (::getrandom(&salt, sizeof salt, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof salt))
    salt = static_cast<std::uint64_t>(::getpid());  // early during boot; the checksum still detects accidental damage
  return salt;
}

// Reads records one after the other, up to the first that is incomplete.
class RecordReader {
 public:
  RecordReader(int fd, std::uint64_t salt, std::uint64_t file_size) : fd_(fd), salt_(salt), file_size_(file_size) {}

  std::uint64_t position() const { return position_; }
  const std::string& cut() const { return cut_; }

  // The next record; nothing at the end, or where reading stops. Errors: io; damaged if a record is complete but
  // invalid, or there are too many.
  Result<std::optional<JournalRecord>> next() {
    if (position_ == file_size_) return std::nullopt;
    std::array<std::byte, kRecordHeaderSize> bytes;
    TRY(const std::size_t got, read_up_to(fd_, position_, bytes));
    if (got < bytes.size()) return stop("short record");
    const RecordHeader header = decode_record_header(bytes);
    if (header.length > kPayloadMax || header.length > file_size_ - position_ - bytes.size())
      return stop("short record");
    const ByteRange location{position_ + bytes.size(), header.length};
    const bool is_data = header.kind == JournalKind::data;
    RecordChecksum checksum(header, salt_ + position_);
    std::vector<std::byte> payload;
    buffer_.resize(kPiece);
    for (std::uint64_t done = 0; done < location.size;) {
      const auto piece = std::span(buffer_).first(std::min<std::uint64_t>(location.size - done, kPiece));
      TRY(const std::size_t read, read_up_to(fd_, location.begin + done, piece));
      if (read < piece.size()) return stop("short record");
      checksum.add(piece);
      if (!is_data) payload.insert(payload.end(), piece.begin(), piece.end());
      done += piece.size();
    }
    if (checksum.value() != header.checksum) return stop("wrong checksum");
    text_bytes_ += payload.size();
    if (++records_ > kRecordsMax || text_bytes_ > kTextBytesMax)
      return tfile::fail(ErrorKind::damaged,
                         "journal has " + std::to_string(records_) + " records with " + std::to_string(text_bytes_) +
                             " bytes, at most " + std::to_string(kRecordsMax) + " with " +
                             std::to_string(kTextBytesMax),
                         static_cast<std::int64_t>(position_));
    TRY(auto record, decode_payload(header, payload));
    if (is_data) record.location = location;
    position_ = location.end();
    return std::optional(std::move(record));
  }

 private:
  std::optional<JournalRecord> stop(const char* why) {
    cut_ = std::string(why) + " at byte " + std::to_string(position_);
    return std::nullopt;
  }

  const int fd_;
  const std::uint64_t salt_;
  const std::uint64_t file_size_;
  std::uint64_t position_ = kJournalHeadSize;
  std::uint64_t text_bytes_ = 0;
  std::size_t records_ = 0;
  std::string cut_;
  std::vector<std::byte> buffer_;
};

struct JournalContent {
  std::uint64_t salt = 0;
  JournalBegin begin;
  std::vector<JournalRecord> records;
  std::uint64_t end = 0;  // of the last good record
  std::string cut;
};

// Prepares one that is taken over: `end` is the end of its good records. The bytes behind them must not stay between
// these and later ones.
Result<> prepare_to_append(int fd, std::uint64_t end, std::uint64_t salt) {
  if (::ftruncate(fd, static_cast<off_t>(end)) != 0) return system_failure("journal cannot be truncated", errno);
  return write_pid(fd, salt);
}

// Whether a journal ends in its first record, or with it: then it promises nothing. A power cut before that was synced
// leaves any of its sectors.
Result<bool> ends_in_first_record(int fd, std::uint64_t size) {
  constexpr std::uint32_t kBeginMax = 4096;  // it has the first few hundred bytes of the file
  std::array<std::byte, kRecordHeaderSize> bytes{};
  TRY(const std::size_t got, read_up_to(fd, kJournalHeadSize, bytes));
  const RecordHeader header = decode_record_header(bytes);
  return got == bytes.size() && header.kind == JournalKind::begin && header.length <= kBeginMax &&
         size <= kJournalHeadSize + kRecordHeaderSize + header.length;
}

// Error not_found: it has no begin record.
Result<JournalContent> read_journal(int fd, std::uint64_t size) {
  TRY(const bool begun, has_begun(fd));
  if (!begun) return no_such_entry("journal has no complete first record");
  std::array<std::byte, kJournalHeadSize> head_bytes;
  TRY(const std::size_t got, read_up_to(fd, 0, head_bytes));
  TRY(const auto head, decode_head(std::span(head_bytes).first(got)));
  RecordReader reader(fd, head.salt, size);
  TRY(const auto first, reader.next());
  if (!first) {
    TRY(const bool is_begun_only, ends_in_first_record(fd, size));
    if (is_begun_only) return no_such_entry("journal has no complete first record");
    return tfile::fail(ErrorKind::damaged, "journal of " + std::to_string(size) + " bytes has no first record",
                       kJournalHeadSize);
  }
  JournalContent content;
  content.salt = head.salt;
  TRY(content.begin, begin_of(*first));
  for (;;) {
    TRY(auto record, reader.next());
    if (!record) break;
    if (record->kind == JournalKind::begin) {
      TRY(content.begin, begin_of(*record));
    }
    content.records.push_back(*std::move(record));
  }
  content.end = reader.position();
  content.cut = reader.cut();
  return content;
}

}  // namespace

std::string journal_name(std::string_view file_name) { return std::string(file_name) + ".tfilefs-journal"; }

Journal::Journal(Descriptor directory, std::string name, Descriptor file, std::uint64_t salt, bool writable)
    : directory_(std::move(directory)),
      name_(std::move(name)),
      file_(std::move(file)),
      salt_(salt),
      writable_(writable),
      size_(kJournalHeadSize) {}

Result<std::shared_ptr<Journal>> Journal::create(int directory_fd, std::string name, const JournalBegin& begin,
                                                 uid_t owner, gid_t group) {
  TRY(auto directory, duplicate(directory_fd));
  Descriptor file(::openat(directory_fd, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) {
    if (errno != EEXIST) return system_failure("journal cannot be created", errno);
    TRY_VOID(check_none(directory_fd, name));
    return tfile::fail(ErrorKind::busy, "a journal was just removed: try again");
  }
  TRY_VOID(lock_to_write(file.get()));
  const std::uint64_t salt = new_salt();
  return Journal::begin(
      std::shared_ptr<Journal>(new Journal(std::move(directory), std::move(name), std::move(file), salt, true)), begin,
      owner, group);
}

Result<> Journal::check_none(int directory_fd, const std::string& name) {
  const auto there = open_existing(directory_fd, name, O_RDONLY);
  if (!there && there.error().kind == ErrorKind::not_found) return {};
  if (!there) return tl::unexpected(there.error());
  TRY_VOID(check_nobody_writes(there->get()));
  return tfile::fail(ErrorKind::exists, "a journal already exists");
}

Result<std::shared_ptr<Journal>> Journal::create_beside(int directory_fd, std::string name, const JournalBegin& begin,
                                                        uid_t owner, gid_t group) {
  TRY(auto directory, duplicate(directory_fd));
  name += kTemporarySuffix;
  ::unlinkat(directory_fd, name.c_str(), 0);
  Descriptor file(::openat(directory_fd, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return system_failure("journal cannot be created", errno);
  TRY_VOID(lock_to_write(file.get()));
  const std::uint64_t salt = new_salt();
  return Journal::begin(
      std::shared_ptr<Journal>(new Journal(std::move(directory), std::move(name), std::move(file), salt, true)), begin,
      owner, group);
}

Result<> Journal::take_place() {
  TRY_VOID(sync());
  if (!is_named(directory_.get(), name_, file_.get()))
    return system_failure("journal cannot be renamed", tfile::errnos::kNotFound);
  std::string final_name = name_.substr(0, name_.size() - kTemporarySuffix.size());
  if (::renameat(directory_.get(), name_.c_str(), directory_.get(), final_name.c_str()) != 0)
    return system_failure("journal cannot be renamed", errno);
  name_ = std::move(final_name);
  if (::fsync(directory_.get()) == 0) return {};
  Lock lock(state_mutex_);
  failed_ = true;
  failure_ = journal_error("journal directory cannot be synced", errno);
  return {};
}

Result<std::shared_ptr<Journal>> Journal::begin(std::shared_ptr<Journal> journal, const JournalBegin& begin,
                                                uid_t owner, gid_t group) {
  const auto write = [&]() -> Result<> {
    // Only its owner may open it, so it may keep another group than the file's where this user may not give it that.
    const bool is_ours = ::geteuid() == owner;
    const bool is_alike = is_ours && ::getegid() == group;
    if (!is_alike && ::fchown(journal->file_.get(), owner, group) != 0 && !(is_ours && errno == EPERM))
      return system_failure("journal cannot be given to the owner of the file", errno);
    TRY_VOID(write_pid(journal->file_.get(), journal->salt_));
    TRY_VOID(journal->append(begin_record(begin)));
    return journal->sync();  // so that a journal without a complete begin holds nothing that an fsync has promised
  };
  if (auto written = write(); !written) {
    (void)journal->remove();
    return tl::unexpected(written.error());
  }
  return journal;
}

Result<Replayed> Journal::replay(int directory_fd, std::string name, std::optional<uid_t> owner, Use use) {
  const bool take_over = use == Use::take_over;
  TRY(auto directory, duplicate(directory_fd));
  TRY(auto file, open_existing(directory_fd, name, take_over ? O_RDWR : O_RDONLY));
  struct stat status;
  if (::fstat(file.get(), &status) != 0) return system_failure("journal cannot be examined", errno);
  if (owner && status.st_uid != *owner)
    return tfile::fail(ErrorKind::denied, "journal belongs to another user than the file");
  TRY_VOID(take_over ? lock_to_write(file.get()) : check_nobody_writes(file.get()));
  if (!is_named(directory_fd, name, file.get())) return no_such_entry("journal was just removed");
  if (::fstat(file.get(), &status) != 0) return system_failure("journal cannot be examined", errno);

  auto content = read_journal(file.get(), static_cast<std::uint64_t>(status.st_size));
  // If a writer began meanwhile, the contents read may be inconsistent.
  if (!take_over) TRY_VOID(check_nobody_writes(file.get()));
  if (!content) {
    const bool never_begun = content.error().kind == ErrorKind::not_found;
    if (take_over && never_begun) ::unlinkat(directory_fd, name.c_str(), 0);
    return tl::unexpected(std::move(content).error());
  }
  if (take_over) {
    ::unlinkat(directory_fd, (name + std::string(kTemporarySuffix)).c_str(), 0);  // was to replace this one
    TRY_VOID(prepare_to_append(file.get(), content->end, content->salt));
  }
  Replayed replayed;
  replayed.begin = content->begin;
  replayed.records = std::move(content->records);
  replayed.owner = status.st_uid;
  replayed.group = status.st_gid;
  replayed.cut = std::move(content->cut);
  replayed.journal.reset(new Journal(std::move(directory), std::move(name), std::move(file), content->salt, take_over));
  {
    Lock lock(replayed.journal->state_mutex_);
    replayed.journal->size_ = content->end;
    replayed.journal->records_ = replayed.records.size() + 1;
  }
  return replayed;
}

Result<> Journal::append(const JournalRecord& record) {
  const auto payload = encode_payload(record);
  TRY_VOID(append_record({.kind = record.kind, .id = record.id, .offset = record.offset}, payload));
  return {};
}

Result<ByteRange> Journal::append_data(std::uint64_t id, std::uint64_t offset, std::span<const std::byte> bytes) {
  return append_record({.kind = JournalKind::data, .id = id, .offset = offset}, bytes);
}

Result<ByteRange> Journal::append_record(RecordHeader header, std::span<const std::byte> payload) {
  if (payload.size() > kPayloadMax)
    return tfile::fail(ErrorKind::invalid, "journal record of " + std::to_string(payload.size()) + " bytes, at most " +
                                               std::to_string(kPayloadMax));
  header.length = static_cast<std::uint32_t>(payload.size());
  Lock in_order(append_mutex_);
  std::uint64_t position = 0;
  {
    Lock lock(state_mutex_);
    if (!writable_) return read_only("journal is open for reading only");
    if (failed_) return tl::unexpected(failure_);
    if (records_ >= kRecordsMax)
      return tfile::fail(ErrorKind::no_space, "journal has the maximum number of records: commit first");
    position = size_;
  }
  RecordChecksum checksum(header, salt_ + position);
  checksum.add(payload);
  header.checksum = checksum.value();
  const auto header_bytes = encode_record_header(header);
  if (auto written = write_all(file_.get(), {part_of(header_bytes), part_of(payload)}, position); !written) {
    // On a full disk, the part that was written is needed for smaller records: a removal, a rewritten journal.
    while (::ftruncate(file_.get(), static_cast<off_t>(position)) != 0 && errno == EINTR) {
    }
    return tl::unexpected(std::move(written).error());
  }
  Lock lock(state_mutex_);
  ++records_;
  size_ = position + header_bytes.size() + payload.size();
  return ByteRange{position + header_bytes.size(), payload.size()};
}

Result<> Journal::sync() {
  std::uint64_t target = 0;
  bool name_too = false;
  {
    Lock lock(state_mutex_);
    target = size_;
    while (syncing_ && !failed_ && synced_ < target) synced_changed_.wait(state_mutex_);
    if (failed_) return tl::unexpected(failure_);
    if (synced_ >= target) return {};
    if (!writable_) return read_only("journal is open for reading only");
    syncing_ = true;
    target = size_;
    name_too = !name_synced_;
  }
  // A retry after EINTR syncs the same pages; an interrupted sync has not dropped any of them yet.
  const auto retried = [](int fd, int (*call)(int)) {
    int result = 0;
    do result = call(fd);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
  };
  int number = retried(file_.get(), &::fdatasync);
  if (number == 0 && name_too) number = retried(directory_.get(), &::fsync);
  Lock lock(state_mutex_);
  syncing_ = false;
  synced_changed_.notify_all();
  if (number != 0) {
    failed_ = true;
    failure_ = journal_error("journal cannot be synced", number);
    return tl::unexpected(failure_);
  }
  name_synced_ = true;
  synced_ = std::max(synced_, target);
  return {};
}

Result<> Journal::read(ByteRange location, std::span<std::byte> into) const {
  {
    Lock lock(state_mutex_);
    if (location.begin > size_ || location.size > size_ - location.begin || into.size() != location.size)
      return tfile::fail(ErrorKind::invalid, "the journal has no such bytes");
    if (failed_ && location.end() > synced_) return tl::unexpected(failure_);
  }
  TRY(const std::size_t got, read_up_to(file_.get(), location.begin, into));
  if (got < into.size())
    return tfile::fail(ErrorKind::io,
                       "journal was truncated by another process: has " + std::to_string(location.begin + got) +
                           " bytes, expected " + std::to_string(location.end()),
                       static_cast<std::int64_t>(location.begin));
  return {};
}

Result<> Journal::preallocate(std::uint64_t bytes) {
  if (!writable_) return read_only("journal is open for reading only");
  const std::uint64_t from = size();
  while (bytes > 0 &&
         ::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from), static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    if (errno == EOPNOTSUPP || errno == ENOSYS) break;
    return system_failure("no space for the journal", errno);
  }
  return {};
}

Result<> Journal::remove() {
  if (!is_named(directory_.get(), name_, file_.get())) return {};
  if (has_other_names() && ::ftruncate(file_.get(), 0) != 0) return system_failure("journal cannot be emptied", errno);
  if (::unlinkat(directory_.get(), name_.c_str(), 0) != 0 && errno != ENOENT)
    return system_failure("journal cannot be removed", errno);
  return {};
}

std::uint64_t Journal::size() const {
  Lock lock(state_mutex_);
  return size_;
}

std::size_t Journal::records() const {
  Lock lock(state_mutex_);
  return records_;
}

bool Journal::has_failed() const {
  Lock lock(state_mutex_);
  return failed_;
}

bool Journal::has_other_names() const {
  struct stat at {};
  return ::fstat(file_.get(), &at) == 0 && at.st_nlink > 1;
}

bool Journal::has_name() const {
  struct stat at {};
  return ::fstat(file_.get(), &at) == 0 && at.st_nlink > 0;
}

}  // namespace tfilefs
