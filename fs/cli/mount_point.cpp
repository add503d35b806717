// SPDX-License-Identifier: Apache-2.0
#include "cli/mount_point.h"

#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include "cli/mount_table.h"
#include "printable.h"

namespace tfilefs {
namespace {

using tfile::fail;

// `looking_errno`: why it cannot be looked at; `making_errno`: why it cannot be made, 0 if it was made.
tl::unexpected<Error> cannot_be(const std::string& path, int looking_errno, int making_errno) {
  if (looking_errno != ENOENT || making_errno == 0)
    return fail(ErrorKind::not_found, path + ": " + std::strerror(looking_errno), -1, looking_errno);
  if (making_errno == EEXIST)
    return fail(ErrorKind::not_found, path + ": a symbolic link whose target does not exist", -1, looking_errno);
  const std::string why = path + ": cannot be created: " + std::strerror(making_errno);
  const std::string remedy = making_errno == ENOENT ? ": its parent directory does not exist either" : "";
  return fail(ErrorKind::not_found, why + remedy, -1, making_errno);
}

// Whether the directory, which was made or was there, is gone again: with another mount, that failed.
bool was_taken_away(const std::string& path, int making_errno) {
  struct stat link {};
  return (making_errno == 0 || making_errno == EEXIST) && ::lstat(path.c_str(), &link) != 0 && errno == ENOENT;
}

bool is_same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

bool is_at(const char* path, const struct stat& directory) {
  struct stat status {};
  return path && ::stat(path, &status) == 0 && is_same(status, directory);
}

// The files that a mount on the directory would hide, in words; empty: none, or what this process may not see.
std::string hidden_below(const std::string& path, const struct stat& directory) {
  if (is_at("/", directory)) return "is the root directory";
  const passwd* owner = ::getpwuid(directory.st_uid);
  if (is_at(std::getenv("HOME"), directory) || (owner && is_at(owner->pw_dir, directory))) return "is a home directory";
  std::error_code error;
  const std::filesystem::directory_iterator names(path, error);
  if (error || names == std::filesystem::directory_iterator()) return "";
  return "is not empty (" + printable(names->path().filename().string()) + ")";
}

// A directory that is made for a mount says so, since a daemon that is killed leaves it. Its number tells it from a
// copy.
constexpr const char* kMadeMark = "user.tfilefs.made";

void mark_as_made(const std::string& path, const struct stat& directory) {
  const std::string number = std::to_string(directory.st_ino);
  ::setxattr(path.c_str(), kMadeMark, number.data(), number.size(), 0);  // else nobody will know
}

bool is_marked_as_made(const std::string& path, const struct stat& directory) {
  if (directory.st_uid != ::geteuid()) return false;  // another user may have set it
  std::array<char, 32> number;
  const ssize_t size = ::getxattr(path.c_str(), kMadeMark, number.data(), number.size());
  return size > 0 &&
         std::string_view(number.data(), static_cast<std::size_t>(size)) == std::to_string(directory.st_ino);
}

}  // namespace

Result<MountPoint> prepare_mount_point(const std::string& path, bool nonempty) {
  TRY_VOID(clear_dead_mount(path));
  constexpr int kTriesMax = 1000;
  bool made = false;
  struct stat directory {};
  for (int tries = 1;; ++tries) {
    made = ::mkdir(path.c_str(), 0755) == 0;
    const int making_errno = made ? 0 : errno;
    if (::stat(path.c_str(), &directory) == 0) break;
    const int looking_errno = errno;
    if (tries == kTriesMax || !was_taken_away(path, making_errno)) return cannot_be(path, looking_errno, making_errno);
  }
  if (!S_ISDIR(directory.st_mode)) return fail(ErrorKind::invalid, path + ": not a directory");
  if (made) mark_as_made(path, directory);
  const MountPoint point{made, made || is_marked_as_made(path, directory)};
  if (made || nonempty) return point;
  const std::string hidden = hidden_below(path, directory);
  if (hidden.empty()) return point;
  TRY_VOID(clear_dead_mount(path));  // another mount may have begun here meanwhile
  return fail(ErrorKind::invalid,
              path + ": " + hidden + ", and the mount would hide its contents: use another directory, or -o nonempty");
}

PlaceHold::PlaceHold(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  constexpr std::chrono::milliseconds kLongest{3000}, kPause{20};
  struct stat place {};
  if (::stat(path.c_str(), &place) != 0) return;
  place_ = place;
  if (!socket_) return;
  const std::string name = "tfilefs-begins-" + std::to_string(place.st_dev) + "-" + std::to_string(place.st_ino);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto give_up = std::chrono::steady_clock::now() + kLongest;
  for (;;) {
    const int bound = ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    is_of_another_ = bound != 0 && errno == EADDRINUSE;
    if (!is_of_another_ || std::chrono::steady_clock::now() >= give_up) return;
    std::this_thread::sleep_for(kPause);
  }
}

bool PlaceHold::is_still_at(const std::string& path) const {
  struct stat now {};
  return place_ && ::stat(path.c_str(), &now) == 0 && is_same(now, *place_);
}

void remove_mount_point(const std::string& path, const PlaceHold& hold) {
  if (!hold.is_of_another()) ::rmdir(path.c_str());
}

void remove_made_mount_point(const std::string& path) {
  const PlaceHold hold(path);
  struct stat directory {};
  if (::stat(path.c_str(), &directory) == 0 && is_marked_as_made(path, directory)) remove_mount_point(path, hold);
}

}  // namespace tfilefs
