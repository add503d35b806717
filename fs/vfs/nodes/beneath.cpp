// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/beneath.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "tfile/errnos.h"
#include "vfs/nodes/acting_for.h"

namespace tfilefs {

namespace errnos = tfile::errnos;

namespace {

std::string path_of_descriptor(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

// For an open file. With an access control list, which the bits do not express, only the owner is allowed.
bool allows(const Caller& caller, int fd, int wanted) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return false;
  const bool has_list = ::getxattr(path_of_descriptor(fd).c_str(), "system.posix_acl_access", nullptr, 0) > 0;
  if (has_list && caller.uid != status.st_uid) return false;
  return bits_allow(caller, status.st_mode, status.st_uid, status.st_gid, wanted);
}

int wanted_by(int flags) {
  if (flags & O_PATH) return 0;
  const int mode = flags & O_ACCMODE;
  return (mode != O_WRONLY ? R_OK : 0) | (mode != O_RDONLY ? W_OK : 0);
}

// Walks down a path as the kernel would for a caller whose ids this process cannot take. Each component is held open
// while its permissions are checked, so the file that is opened in the end is the one that was checked.
class CallersWalk {
 public:
  CallersWalk(const Caller& caller, int root, const std::string& real_path) : caller_(caller), real_path_(real_path) {
    directories_.emplace_back(::fcntl(root, F_DUPFD_CLOEXEC, 0));
  }

  Descriptor open(const std::string& path, int flags, bool links) {
    push_front(path);
    Descriptor found = dup_of(directories_.back());
    while (found && !left_.empty()) found = step(links);
    if (!found || (flags & O_PATH)) return found;
    if (!allows(caller_, found.get(), wanted_by(flags))) return refused(errnos::kAccessDenied);
    struct stat status {};
    if (::fstat(found.get(), &status) != 0 || S_ISLNK(status.st_mode)) return refused(errnos::kTooManyLinks);
    return Descriptor(::open(path_of_descriptor(found.get()).c_str(), flags & ~O_NOFOLLOW));
  }

 private:
  static constexpr int kLinksMax = 40;  // the kernel's own limit

  static Descriptor refused(int number) {
    errno = number;
    return Descriptor();
  }
  static Descriptor dup_of(const Descriptor& fd) { return Descriptor(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)); }

  void push_front(std::string_view path) {
    std::vector<std::string> names;
    while (!path.empty()) {
      const std::size_t slash = path.find('/');
      if (slash != 0) names.emplace_back(path.substr(0, slash));
      path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    }
    left_.insert(left_.begin(), names.begin(), names.end());
  }

  // Takes the next name; returns what it names, or nothing and errno.
  Descriptor step(bool links) {
    const std::string name = std::move(left_.front());
    left_.pop_front();
    if (!allows(caller_, directories_.back().get(), X_OK)) return refused(errnos::kAccessDenied);
    if (name == ".") return dup_of(directories_.back());
    if (name == "..") {
      if (directories_.size() == 1) return refused(errnos::kOutside);
      directories_.pop_back();
      return dup_of(directories_.back());
    }
    Descriptor at(::openat(directories_.back().get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!at || ::fstat(at.get(), &status) != 0) return Descriptor();
    if (S_ISLNK(status.st_mode)) {
      if (links) return follow(at);
      return left_.empty() ? std::move(at) : refused(errnos::kTooManyLinks);
    }
    if (left_.empty()) return at;
    if (!S_ISDIR(status.st_mode)) return refused(errnos::kNotADirectory);
    directories_.push_back(std::move(at));
    return dup_of(directories_.back());
  }

  Descriptor follow(const Descriptor& link) {
    std::array<char, PATH_MAX> text;
    const ssize_t size = ::readlinkat(link.get(), "", text.data(), text.size());
    if (size <= 0) return refused(errnos::kNotFound);
    if (++links_ > kLinksMax) return refused(errnos::kTooManyLinks);
    std::string_view target(text.data(), static_cast<std::size_t>(size));
    if (target.starts_with('/')) {
      if (real_path_.empty() || !target.starts_with(real_path_ == "/" ? "/" : real_path_ + "/"))
        return refused(errnos::kOutside);
      target.remove_prefix(real_path_.size());
      directories_.resize(1);
    }
    push_front(target);
    return dup_of(directories_.back());
  }

  const Caller& caller_;
  const std::string& real_path_;
  std::vector<Descriptor> directories_;  // from the root to the current one
  std::deque<std::string> left_;
  int links_ = 0;
};

}  // namespace

Descriptor open_beneath_for(const CallerPtr& caller, int directory, const std::string& real_path,
                            const std::string& path, int flags, bool links) {
  if (!caller || ActingFor::is_possible()) return open_beneath(directory, path, flags, links);
  return open_by_bits(*caller, directory, real_path, path, flags, links);
}

Descriptor open_by_bits(const Caller& caller, int directory, const std::string& real_path, const std::string& path,
                        int flags, bool links) {
  return CallersWalk(caller, directory, real_path).open(path, flags, links);
}

Descriptor reopen_for(const CallerPtr& caller, int fd, Access access) {
  if (access == Access::status) return Descriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  const int flags = (access == Access::read ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  if (!ActingFor::is_possible() && !allows(*caller, fd, wanted_by(flags))) {
    errno = errnos::kAccessDenied;
    return Descriptor();
  }
  return Descriptor(::open(path_of_descriptor(fd).c_str(), flags));
}

bool bits_allow(const Caller& caller, mode_t mode, uid_t owner, gid_t group, int wanted) {
  const bool in_group =
      caller.gid == group || std::find(caller.groups.begin(), caller.groups.end(), group) != caller.groups.end();
  const mode_t bits = caller.uid == owner ? mode >> 6 : in_group ? mode >> 3 : mode;
  return (static_cast<mode_t>(wanted) & ~bits & 7) == 0;
}

bool may_change_names(const CallerPtr& caller, int directory) {
  if (!caller) return true;
  if (!ActingFor::is_possible()) return allows(*caller, directory, W_OK | X_OK);
  // Checks the descriptor itself, and with the ids of the thread rather than those of the process.
  return ::syscall(SYS_faccessat2, directory, "", W_OK | X_OK, AT_EACCESS | AT_EMPTY_PATH) == 0;
}

}  // namespace tfilefs
