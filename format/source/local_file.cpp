// SPDX-License-Identifier: Apache-2.0
#include "tfile/local_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "source/open_local.h"
#include "tfile/errnos.h"

namespace tfile {
namespace {

ErrorKind kind_of(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
      return ErrorKind::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
    case EXDEV:
      return ErrorKind::denied;
    case ENOSPC:
    case EDQUOT:
      return ErrorKind::no_space;
    case EEXIST:
      return ErrorKind::exists;
    case ENOTEMPTY:
      return ErrorKind::not_empty;
    default:
      return ErrorKind::io;
  }
}

// For kernels and sandboxes without openat2: opens component by component and follows no link.
Descriptor walk_beneath(int directory, std::string_view path, int flags) {
  Descriptor at(::fcntl(directory, F_DUPFD_CLOEXEC, 0));
  while (at) {
    const std::size_t slash = path.find('/');
    const bool last = slash == std::string_view::npos;
    const std::string component(path.substr(0, slash));
    if (component == "..") {
      errno = errnos::kOutside;
      return Descriptor();
    }
    if (last || (!component.empty() && component != "."))
      at = Descriptor(::openat(at.get(), component.c_str(), (last ? flags : kDirectoryFlags) | O_NOFOLLOW));
    if (last) return at;
    path.remove_prefix(slash + 1);
  }
  return at;
}

}  // namespace

tl::unexpected<Error> system_error(const std::string& what, int number) {
  return fail(kind_of(number), what + ": " + std::strerror(number), -1, number);
}

int write_all(int fd, std::uint64_t offset, std::span<const std::byte> bytes) {
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  return write_all(fd, offset, {&part, 1});
}

int write_all(int fd, std::uint64_t offset, std::span<iovec> parts) {
  for (;;) {
    while (!parts.empty() && parts[0].iov_len == 0) parts = parts.subspan(1);
    if (parts.empty()) return 0;
    const ssize_t written = ::pwritev(fd, parts.data(), static_cast<int>(parts.size()), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : errnos::kStorageFailed;
    offset += static_cast<std::uint64_t>(written);
    for (auto left = static_cast<std::size_t>(written); left > 0;
         parts = parts.subspan(parts[0].iov_len == 0 ? 1 : 0)) {
      const std::size_t done = std::min(left, parts[0].iov_len);
      parts[0].iov_base = static_cast<std::byte*>(parts[0].iov_base) + done;
      parts[0].iov_len -= done;
      left -= done;
    }
  }
}

tl::expected<std::size_t, int> read_up_to(int fd, std::uint64_t offset, std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = ::pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Descriptor open_beneath(int directory, const std::string& path, int flags, bool links) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | (links ? 0 : O_NOFOLLOW));
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  // O_PATH opens the link itself, which RESOLVE_NO_SYMLINKS would forbid.
  if (!links && !(flags & O_PATH)) how.resolve |= RESOLVE_NO_SYMLINKS;
  const std::string name = path.empty() ? "." : path;
  for (int attempt = 0; attempt < 8; ++attempt) {  // EAGAIN: a rename elsewhere raced with the resolution of ".."
    const long fd = ::syscall(SYS_openat2, directory, name.c_str(), &how, sizeof how);
    if (fd >= 0) return Descriptor(static_cast<int>(fd));
    if (errno != EAGAIN && errno != EINTR) break;
  }
  if (errno == ENOSYS || errno == EPERM) return walk_beneath(directory, name, flags);
  return Descriptor();
}

}  // namespace tfile
