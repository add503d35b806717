// SPDX-License-Identifier: Apache-2.0
#include "staging/journal/file_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "temporary_name.h"
#include "tfile/writer.h"

namespace tfilefs {

std::optional<FileId> id_at(int directory, const std::string& name) {
  struct stat status {};
  if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

std::optional<FileId> id_of(int open_file) {
  struct stat status {};
  if (::fstat(open_file, &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

Result<FilePlace> place_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  FilePlace place;
  place.directory = Descriptor(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!place.directory) return system_error(parent, errno);
  place.name = path.substr(slash + 1);
  place.shown = path;
  return place;
}

Result<std::shared_ptr<const tfile::Source>> FilePlace::source() const {
  Descriptor file(::openat(directory.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW));
  if (!file) return system_error(shown, errno);
  return tfile::adopt_source(file.release(), shown, directory.get());
}

std::uint64_t FilePlace::capacity() const {
  struct statvfs space {};
  if (::fstatvfs(directory.get(), &space) != 0 || space.f_blocks == 0) return ~std::uint64_t{0};  // not known
  return std::uint64_t{space.f_blocks} * space.f_frsize;
}

Result<Descriptor> FilePlace::open_to_write() const {
  Descriptor file(::openat(directory.get(), name.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW));
  if (!file) return system_error(shown, errno);
  return file;
}

Result<std::vector<std::byte>> FilePlace::head() const {
  const Descriptor file(::openat(directory.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW));
  if (file) return read_at(file.get(), 0, kFileHeadSize);
  if (errno == ENOENT) return std::vector<std::byte>();
  return system_error(shown, errno);
}

std::optional<FilePlace::Owner> FilePlace::owner() const {
  struct stat status {};
  if (::fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return Owner{status.st_uid, status.st_gid, status.st_mode & 07777};
}

std::optional<uid_t> FilePlace::journal_owner() const {
  if (const auto file = owner()) return file->uid;
  return ::geteuid() == 0 ? std::nullopt : std::optional(::geteuid());
}

Result<> FilePlace::change(const Owner& owner, timespec modified) const {
  TRY(const Descriptor file, open_to_write());
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return system_error(shown, errno);
  const bool same_owner = owner.uid == status.st_uid && owner.gid == status.st_gid;
  if (!same_owner && ::fchown(file.get(), owner.uid, owner.gid) != 0) return system_error(shown, errno);
  if (owner.mode != (status.st_mode & 07777) && ::fchmod(file.get(), owner.mode) != 0)
    return system_error(shown, errno);
  const timespec times[] = {{0, UTIME_OMIT}, modified};
  if (modified.tv_nsec != UTIME_OMIT && ::futimens(file.get(), times) != 0) return system_error(shown, errno);
  return {};
}

bool is_same_head(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.empty() || b.empty()) return a.empty() && b.empty();
  const std::size_t size = std::min({a.size(), b.size(), tfile::state_size(a)});
  return std::ranges::equal(a.first(size), b.first(size));
}

FilePlace::Owner process_owner() {
  static const mode_t mask = [] {
    const mode_t set = ::umask(0);
    ::umask(set);
    return set;
  }();
  return {::geteuid(), ::getegid(), 0666 & ~mask};
}

bool is_same_entry(const FilePlace& a, const FilePlace& b) {
  const auto id = id_of(a.directory.get());
  return a.name == b.name && id && id == id_of(b.directory.get());
}

Result<> write_all(int fd, std::uint64_t offset, std::span<const std::byte> bytes) {
  if (const int number = tfile::write_all(fd, offset, bytes); number != 0) return system_error("write", number);
  return {};
}

// The file system copies them, or shares them, where it can.
Result<> copy_all(int from, int to) {
  constexpr std::size_t kTogether = std::size_t{1} << 30, kPiece = std::size_t{1} << 20;
  off_t in = 0, out = 0;
  ssize_t more = 0;
  do {
    more = ::copy_file_range(from, &in, to, &out, kTogether, 0);
  } while (more > 0);
  if (more < 0 && errno == ENOSPC) return system_error("copy", errno);
  for (auto at = static_cast<std::uint64_t>(out);;) {
    TRY(const std::vector<std::byte> bytes, read_at(from, at, kPiece));
    if (bytes.empty()) return {};
    TRY_VOID(write_all(to, at, bytes));
    at += bytes.size();
  }
}

Result<FileId> replace_file(const std::string& path, std::string_view bytes, mode_t mode) {
  std::string made = temporary_name(path + ".");
  const Descriptor file(::mkostemp(made.data(), O_CLOEXEC));
  if (!file) return system_error(path, errno);
  Result<> done = write_all(file.get(), 0, std::as_bytes(std::span(bytes)));
  if (!done) done = system_error(path, done.error().system_errno);
  if (done && ::fchmod(file.get(), mode) != 0) done = system_error(path, errno);
  if (done && ::rename(made.c_str(), path.c_str()) != 0) done = system_error(path, errno);
  if (done) return id_of(file.get()).value_or(FileId{});
  ::unlink(made.c_str());
  return tl::unexpected(std::move(done).error());
}

Result<> sync_data(int fd) {
  if (::fdatasync(fd) != 0) return system_error("fdatasync", errno);
  return {};
}

Result<std::vector<std::byte>> read_at(int fd, std::uint64_t offset, std::size_t size) {
  std::vector<std::byte> bytes(size);
  const auto got = tfile::read_up_to(fd, offset, bytes);
  if (!got) return system_error("read", got.error());
  bytes.resize(*got);
  return bytes;
}

}  // namespace tfilefs
