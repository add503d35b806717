// SPDX-License-Identifier: Apache-2.0
#include "staging/journal/new_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace tfilefs {
namespace {

// Readable only by its owner until it is complete.
constexpr mode_t kUnfinished = S_IRUSR | S_IWUSR;
// With 64 random bits, a name that is taken was taken on purpose.
constexpr int kNamesTried = 16;

std::string path_of_descriptor(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// ".out.root.0123456789abcdef.tfilefs-tmp"
std::string random_name(const std::string& file_name) {
  constexpr std::size_t kShown = 200;  // of the file's name: the whole stays below NAME_MAX
  std::uint64_t number = 0;
  (void)::getrandom(&number, sizeof number, 0);
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return "." + file_name.substr(0, kShown) + "." + digits + std::string(kTemporarySuffix);
}

// Calls `make` with random names until one is free. Returns the name; none after an error, which is in errno.
template <class Make>
std::string with_random_name(const std::string& file_name, Make make) {
  for (int i = 0; i < kNamesTried; ++i) {
    std::string name = random_name(file_name);
    if (make(name)) return name;
    if (errno != EEXIST) break;
  }
  return {};
}

// None if the file system has no files without a name, or /proc, by which they get one, is not there.
Descriptor make_unnamed(const FilePlace& place) {
  Descriptor file(::openat(place.directory.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, kUnfinished));
  if (file && ::access(path_of_descriptor(file.get()).c_str(), F_OK) != 0) return Descriptor();
  return file;
}

Result<> give_to(const FilePlace& place, int file, const FilePlace::Owner& owner) {
  // Without the right to give the file away it stays the process's, as a copy that replaces a file would.
  const bool is_ours = owner.uid == ::geteuid() && owner.gid == ::getegid();
  if (!is_ours && ::fchown(file, owner.uid, owner.gid) != 0 && errno != EPERM) return system_error(place.shown, errno);
  if (::fchmod(file, owner.mode) != 0) return system_error(place.shown, errno);
  return {};
}

tl::unexpected<Error> another_has_the_name(const FilePlace& place) {
  return tfile::fail(ErrorKind::stale,
                     place.shown + ": another program has created or replaced this file in the meantime");
}

bool link_to(int file, const FilePlace& place, const std::string& name) {
  return ::linkat(AT_FDCWD, path_of_descriptor(file).c_str(), place.directory.get(), name.c_str(), AT_SYMLINK_FOLLOW) ==
         0;
}

// Never over another file. Without the flag (NFS) a link is made, and without links (FAT) only a look can tell. False:
// errno tells why.
bool rename_to_free(int directory, const std::string& from, const std::string& to) {
  bool done = ::renameat2(directory, from.c_str(), directory, to.c_str(), RENAME_NOREPLACE) == 0;
  if (!done && (errno == EINVAL || errno == ENOSYS))
    done =
        ::linkat(directory, from.c_str(), directory, to.c_str(), 0) == 0 && ::unlinkat(directory, from.c_str(), 0) == 0;
  if (!done && (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS)) {
    done = !id_at(directory, to) && ::renameat(directory, from.c_str(), directory, to.c_str()) == 0;
  }
  return done;
}

Result<> rename_to_place(const FilePlace& place, const std::string& from) {
  if (rename_to_free(place.directory.get(), from, place.name)) return {};
  const int number = errno;
  if (number == EEXIST || place.id()) return another_has_the_name(place);
  return system_error(place.shown, number);
}

}  // namespace

Result<NewFile> NewFile::make(const FilePlace& place, const FilePlace::Owner& owner) {
  Descriptor directory(::fcntl(place.directory.get(), F_DUPFD_CLOEXEC, 0));
  if (!directory) return system_error(place.shown, errno);
  Descriptor file = make_unnamed(place);
  std::string name;
  if (!file) {
    name = with_random_name(place.name, [&](const std::string& each) {
      file = Descriptor(::openat(place.directory.get(), each.c_str(),
                                 O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kUnfinished));
      return static_cast<bool>(file);
    });
    if (!file) return system_error(place.shown, errno);
  }
  NewFile made(std::move(directory), std::move(file), std::move(name), place.id());
  TRY_VOID(give_to(place, made.get(), owner));
  return made;
}

NewFile::NewFile(NewFile&& other) noexcept
    : directory_(std::move(other.directory_)),
      file_(std::move(other.file_)),
      name_(std::exchange(other.name_, {})),
      former_(other.former_) {}

NewFile& NewFile::operator=(NewFile&& other) noexcept {
  if (this == &other) return *this;
  drop();
  directory_ = std::move(other.directory_);
  file_ = std::move(other.file_);
  name_ = std::exchange(other.name_, {});
  former_ = other.former_;
  return *this;
}

void NewFile::drop() {
  if (!name_.empty() && id_at(directory_.get(), name_) == id_of(file_.get()))
    ::unlinkat(directory_.get(), name_.c_str(), 0);
  name_.clear();
}

std::string NewFile::path() const { return path_of_descriptor(file_.get()); }

namespace {

// Access control lists are among them.
void copy_attributes(int from, int to) {
  constexpr std::size_t kMost = std::size_t{64} << 10;  // of names, and of a value
  std::vector<char> names(kMost), value(kMost);
  const ssize_t size = ::flistxattr(from, names.data(), names.size());
  for (ssize_t at = 0; at < size;) {
    const char* const name = names.data() + at;
    at += static_cast<ssize_t>(std::strlen(name)) + 1;
    const ssize_t got = ::fgetxattr(from, name, value.data(), value.size());
    if (got >= 0) (void)::fsetxattr(to, name, value.data(), static_cast<std::size_t>(got), 0);
  }
}

}  // namespace

Result<> NewFile::copy_from(int file) {
  copy_attributes(file, file_.get());
  return copy_all(file, file_.get());
}

Result<> NewFile::check_place(const FilePlace& place) const {
  if (place.id() != former_) return another_has_the_name(place);
  return {};
}

// To a place where there is none.
Result<> NewFile::give_name(const FilePlace& place) {
  if (!name_.empty()) return rename_to_place(place, name_);
  if (link_to(file_.get(), place, place.name)) return {};
  if (errno == EEXIST) return another_has_the_name(place);
  return system_error(place.shown, errno);
}

// A name can only be replaced by a rename, which needs one.
Result<> NewFile::take_place(const FilePlace& place) {
  if (name_.empty())
    name_ = with_random_name(place.name, [&](const std::string& each) { return link_to(file_.get(), place, each); });
  if (name_.empty()) return system_error(place.shown, errno);
  const int directory = place.directory.get();
  TRY_VOID(check_place(place));
  if (::renameat(directory, name_.c_str(), directory, place.name.c_str()) != 0) return system_error(place.shown, errno);
  return {};
}

Result<> NewFile::put_on_disk(const FilePlace& place) {
  if (::fsync(file_.get()) != 0) return system_error(place.shown, errno);
  TRY_VOID(check_place(place));
  if (!name_.empty() && id_at(directory_.get(), name_) != id_of(file_.get()))
    return tfile::fail(ErrorKind::io, place.shown + ": the file was removed before it was complete");
  return {};
}

Result<> NewFile::publish(const FilePlace& place) {
  TRY_VOID(put_on_disk(place));
  TRY_VOID(former_ ? take_place(place) : give_name(place));
  name_.clear();  // it is not under that one any more
  if (::fsync(place.directory.get()) != 0) return system_error(place.shown, errno);
  return {};
}

Result<> NewFile::make_ready(const FilePlace& place) {
  TRY_VOID(put_on_disk(place));
  if (name_.empty())
    name_ = with_random_name(place.name, [&](const std::string& each) { return link_to(file_.get(), place, each); });
  if (name_.empty()) return system_error(place.shown, errno);
  return {};
}

Result<> NewFile::swap_in(const FilePlace& place) {
  TRY_VOID(check_place(place));
  if (former_) return exchange_names(place);
  TRY_VOID(rename_to_place(place, name_));
  name_.clear();
  return {};
}

// Both names change at one instant. Where the file system cannot do that (NFS), the former file has two names before.
Result<> NewFile::exchange_names(const FilePlace& place) {
  const int directory = place.directory.get();
  const auto exchange = [&] {
    return ::renameat2(directory, name_.c_str(), directory, place.name.c_str(), RENAME_EXCHANGE) == 0;
  };
  if (exchange()) {
    if (id_at(directory, name_) == former_) return {};
    (void)exchange();
    return another_has_the_name(place);
  }
  if (errno != EINVAL && errno != ENOSYS) return system_error(place.shown, errno);
  const std::string second = with_random_name(place.name, [&](const std::string& each) {
    return ::linkat(directory, place.name.c_str(), directory, each.c_str(), 0) == 0;
  });
  if (second.empty()) return system_error(place.shown, errno);
  if (::renameat(directory, name_.c_str(), directory, place.name.c_str()) != 0) {
    const int why = errno;
    ::unlinkat(directory, second.c_str(), 0);
    return system_error(place.shown, why);
  }
  name_ = second;
  return {};
}

Result<> NewFile::swap_back(const FilePlace& place) {
  if (place.id() != id_of(file_.get())) return another_has_the_name(place);
  const int directory = place.directory.get();
  const bool done = former_ ? ::renameat(directory, name_.c_str(), directory, place.name.c_str()) == 0
                            : ::unlinkat(directory, place.name.c_str(), 0) == 0;
  if (!done) return system_error(place.shown, errno);
  name_.clear();
  return {};
}

void NewFile::remove_former() {
  if (!name_.empty() && id_at(directory_.get(), name_) == former_) ::unlinkat(directory_.get(), name_.c_str(), 0);
  name_.clear();
}

Result<> LeavingFile::set_aside() {
  const int directory = place_.directory.get();
  if (!id_ || place_.id() != id_) return another_has_the_name(place_);
  name_ = with_random_name(place_.name,
                           [&](const std::string& each) { return rename_to_free(directory, place_.name, each); });
  if (name_.empty()) return system_error(place_.shown, errno);
  if (id_at(directory, name_) == id_) return {};
  (void)put_back();
  return another_has_the_name(place_);
}

Result<> LeavingFile::put_back() {
  if (name_.empty()) return {};
  TRY_VOID(rename_to_place(place_, name_));
  name_.clear();
  return {};
}

void LeavingFile::remove() {
  if (!name_.empty()) ::unlinkat(place_.directory.get(), name_.c_str(), 0);
  name_.clear();
}

}  // namespace tfilefs
