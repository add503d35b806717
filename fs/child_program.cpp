// SPDX-License-Identifier: Apache-2.0
#include "child_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "descriptor.h"

namespace tfilefs {

int end_of_child(pid_t child) {
  int status = -1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

Ended run_program(const std::string& path, std::vector<std::string> arguments) {
  // All memory is taken before the fork: another thread may hold the allocator's lock then.
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  const std::string cannot_be_run = path + ": ";
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {-1, std::strerror(errno)};
  const Descriptor reading(ends[0]);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::execv(path.c_str(), words.data());
    const char* const why = ::strerrordesc_np(errno);
    for (const std::string_view text : {std::string_view(cannot_be_run), std::string_view(why)})
      if (::write(STDERR_FILENO, text.data(), text.size()) < 0) break;
    ::_exit(127);
  }
  Ended ended;
  if (child < 0) ended.said = std::strerror(errno);
  ::close(ends[1]);
  std::array<char, 4096> buffer;
  for (ssize_t size = 0; (size = ::read(reading.get(), buffer.data(), buffer.size())) != 0;) {
    if (size < 0 && errno != EINTR) break;
    if (size > 0) ended.said.append(buffer.data(), static_cast<std::size_t>(size));
  }
  const int status = end_of_child(child);
  if (status >= 0 && WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  while (!ended.said.empty() && ended.said.back() == '\n') ended.said.pop_back();
  std::ranges::replace(ended.said, '\n', ';');
  return ended;
}

}  // namespace tfilefs
