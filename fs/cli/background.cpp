// SPDX-License-Identifier: Apache-2.0
#include "cli/background.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "cli/commands.h"

namespace tfilefs {
namespace {

// A message of just this byte reports success.
constexpr char kReady = '\0';

// They are made before main() begins.
constexpr int kCopiesLast = 20;

void write_text(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

[[noreturn]] void wait_for_child(int pipe, const std::string& greeting) {
  std::string said;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t n = ::read(pipe, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    said.append(buffer.data(), static_cast<std::size_t>(n));
    if (said.front() == kReady) {
      write_text(STDERR_FILENO, greeting + said.substr(1));
      std::_Exit(kExitOk);
    }
  }
  if (said.empty()) said = "tfilefs: the daemon ended before it was ready\n";
  write_text(STDERR_FILENO, said);
  std::_Exit(kExitFailure);
}

}  // namespace

Background::Background(const std::string& greeting) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot create a pipe to the daemon");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child > 0) {
    ::close(ends[1]);
    wait_for_child(ends[0], greeting);
  }
  ::close(ends[0]);
  pipe_ = ends[1];
}

namespace {

// Libraries keep copies of standard error. A program that reads what this one says waits until all are closed.
void close_copies(int of, int null) {
  struct stat status {
  }, other{};
  if (::fstat(of, &status) != 0) return;
  for (int fd = STDERR_FILENO + 1; fd <= kCopiesLast; ++fd)
    if (::fstat(fd, &other) == 0 && other.st_dev == status.st_dev && other.st_ino == status.st_ino) ::dup2(null, fd);
}

}  // namespace

void Background::ready(const std::string& more) {
  // Not before: until now messages of libraries and of fusermount3 may matter to the user who started this.
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) close_copies(fd, null);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  if (null > STDERR_FILENO) ::close(null);
  if (::chdir("/") != 0) {  // the directory it was started in must not be kept busy; "/" is always there
  }
  // Not before: autofs has nobody but the process group that mounts look at the mount point until it is mounted.
  ::setsid();
  // One write, and one read of the parent, have it as a whole.
  write_text(pipe_, std::string(1, kReady) + more.substr(0, PIPE_BUF - 1));
  ::close(std::exchange(pipe_, -1));
}

void Background::fail(const std::string& message) {
  if (pipe_ < 0) return;
  write_text(pipe_, "tfilefs: " + message + "\n");
  ::close(std::exchange(pipe_, -1));
}

}  // namespace tfilefs
