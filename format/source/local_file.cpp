// SPDX-License-Identifier: Apache-2.0
#include "tfile/local_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "source/open_local.h"

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
      errno = EXDEV;
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
