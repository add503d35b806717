// SPDX-License-Identifier: Apache-2.0
#include "staging/journal/file_claim.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <string>
#include <thread>
#include <utility>

#include "staging/journal/journal.h"

namespace tfilefs {
namespace {

// The byte that is locked: beyond the end of every file, so that no lock of the file's own bytes is in the way, and
// none keeps a reader from them where locks are mandatory (SMB).
constexpr off_t kClaimedByte = off_t{1} << 62;
// A program that takes a file over and finds nothing to do has let it go again within some milliseconds.
constexpr std::chrono::milliseconds kClaimPassesIn{50}, kClaimAskedAgain{1};
// The path of the name beside which the journal lies.
constexpr const char* kNameAttribute = "user.tfilefs.journal";

std::string text_of_name_attribute(int file) {
  std::array<char, PATH_MAX> text;
  const ssize_t size = ::fgetxattr(file, kNameAttribute, text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

// Absolute, whatever path led to the directory.
std::string whole_path(const FilePlace& place) {
  std::array<char, PATH_MAX> text;
  const std::string link = "/proc/self/fd/" + std::to_string(place.directory.get());
  const ssize_t size = ::readlink(link.c_str(), text.data(), text.size());
  const std::string directory(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return directory.starts_with('/') ? (directory == "/" ? "" : directory) + "/" + place.name : place.shown;
}

// The attribute is anybody's text: it is believed if the same file is there, with a journal beside it.
std::optional<FilePlace> place_noted(const std::string& path, const std::optional<FileId>& file) {
  const std::size_t slash = path.rfind('/');
  if (!path.starts_with('/') || path.find('\0') != std::string::npos) return std::nullopt;
  FilePlace place;
  place.directory = Descriptor(::open(path.substr(0, slash + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  place.name = path.substr(slash + 1);
  place.shown = path;
  if (!place.directory || !file || place.id() != file) return std::nullopt;
  if (!id_at(place.directory.get(), journal_name(place.name))) return std::nullopt;
  return place;
}

std::optional<FilePlace> other_place(int file, const FilePlace& place) {
  const std::string noted = text_of_name_attribute(file);
  if (noted.empty() || noted == whole_path(place)) return std::nullopt;
  auto other = place_noted(noted, id_of(file));
  if (other && is_same_entry(*other, place)) return std::nullopt;  // by another path
  return other;
}

Result<> check_no_journal(const FilePlace& place) {
  return Journal::check_none(place.directory.get(), journal_name(place.name));
}

// The journal tells who has the lock.
tl::unexpected<Error> claimed_by_another(int file, const FilePlace& place) {
  if (auto none = check_no_journal(place); !none && none.error().kind == ErrorKind::busy)
    return tl::unexpected(std::move(none).error());
  const std::string unknown = "another process is writing this file";
  const auto other = other_place(file, place);
  if (!other) return tfile::fail(ErrorKind::busy, unknown);
  const auto none = check_no_journal(*other);
  const bool is_known = !none && none.error().kind == ErrorKind::busy;
  return tfile::fail(ErrorKind::busy,
                     (is_known ? none.error().text : unknown) + " under another of its names, " + other->shown);
}

tl::unexpected<Error> too_many_names(const FilePlace& place, nlink_t links) {
  return never_supported(place.shown + ": has " + std::to_string(links) +
                         " names (hard links), and its file system cannot record which of them is written: make it "
                         "a file of its own (cp FILE COPY, then mv COPY FILE)");
}

}  // namespace

Result<FileClaim> FileClaim::take(const FilePlace& place) {
  TRY(Descriptor file, place.open_to_write());
  const auto deadline = std::chrono::steady_clock::now() + kClaimPassesIn;
  for (;;) {
    // A lock of the open file, not of the process, which has the file open elsewhere: closing that would end it.
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = kClaimedByte;
    lock.l_len = 1;
    if (::fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return FileClaim(std::move(file), true);
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EACCES) return FileClaim(std::move(file), false);
    if (std::chrono::steady_clock::now() >= deadline) return claimed_by_another(file.get(), place);
    std::this_thread::sleep_for(kClaimAskedAgain);
  }
}

bool FileClaim::is_of(const FilePlace& place) const { return place.id() == id_of(file_.get()); }

Result<> FileClaim::note_name(const FilePlace& place) {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) return system_error(place.shown, errno);
  if (status.st_nlink < 2) return {};
  const std::string path = whole_path(place);
  if (is_locked_ && text_of_name_attribute(file_.get()) == path) return {};
  if (const auto other = other_place(file_.get(), place))
    return tfile::fail(ErrorKind::busy,
                       place.shown + ": its journal is next to another of its names: commit it with `tfilefs recover " +
                           other->shown + "`, or a mount of that with -o rw");
  if (!is_locked_) return too_many_names(place, status.st_nlink);
  // Set once: it stays when the journal goes, for every change of it is one of the file to those who have it open.
  if (::fsetxattr(file_.get(), kNameAttribute, path.data(), path.size(), 0) != 0)
    return errno == EOPNOTSUPP || errno == ENOSYS ? too_many_names(place, status.st_nlink)
                                                  : system_error(place.shown, errno);
  if (::fsync(file_.get()) != 0) return system_error(place.shown, errno);
  return {};
}

std::optional<FilePlace> other_name_with_journal(const FilePlace& place) {
  const Descriptor file(
      ::openat(place.directory.get(), place.name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK));
  return file ? other_place(file.get(), place) : std::nullopt;
}

}  // namespace tfilefs
