// SPDX-License-Identifier: Apache-2.0
// Preloaded into the program under test. While the file in FAILING_READS exists, reads of a range of another file fail
// as those of a bad sector do. It contains the end of that file's path, and the first byte and the size of the range.
// Each read takes as many milliseconds as SLOW_READS says.
#include <dlfcn.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

bool is_bad(int file, off_t offset, off_t size) {
  const char* name = std::getenv("FAILING_READS");
  std::ifstream told(name ? name : "");
  std::string path;
  off_t begin = 0, length = 0;
  if (!(told >> path >> begin >> length) || offset >= begin + length || begin >= offset + size) return false;
  char read_from[PATH_MAX];
  const ssize_t got =
      ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), static_cast<char*>(read_from), sizeof read_from);
  return got > 0 && std::string(static_cast<char*>(read_from), static_cast<std::size_t>(got)).ends_with(path);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) ssize_t preadv(int file, const iovec* pieces, int count,
                                                                 off_t offset) {
  static const auto next = reinterpret_cast<decltype(&preadv)>(dlsym(RTLD_NEXT, "preadv"));
  if (const char* delay = std::getenv("SLOW_READS")) ::usleep(1000 * static_cast<useconds_t>(std::atoi(delay)));
  off_t size = 0;
  for (int i = 0; i < count; ++i) size += static_cast<off_t>(pieces[i].iov_len);
  if (!is_bad(file, offset, size)) return next(file, pieces, count, offset);
  errno = EIO;
  return -1;
}
