// SPDX-License-Identifier: Apache-2.0
// Preloaded (LD_PRELOAD) into a program, records every call that changes a file below one directory, with the data,
// in the order in which the calls took effect, and makes chosen calls fail. recording.py reads the log.
//
//   RECORDER_DIRECTORY=DIR       the directory; without it, nothing is done
//   RECORDER_LOG=FILE            the file to which records are appended, outside DIR
//   RECORDER_NO_SPACE_AFTER=N    ENOSPC once files have grown by N bytes; removed bytes become available again
//   RECORDER_QUOTA_AFTER=N       the same with EDQUOT, as if the quota of a user or project were used up
//   RECORDER_FAIL_SYNC=N         EIO from the N-th fsync or fdatasync (from 1); "all" for each
//   RECORDER_SHORT_WRITE=N       the N-th write takes half of its bytes; "all" for each
//   RECORDER_KILL=N              SIGKILL instead of the N-th recorded call
//   RECORDER_SKIP_SYNC=GLOB[:N]  fsync and fdatasync of matching paths (below DIR; DIR itself is ".") do nothing;
//                                with N only the N-th of them
//
// Calls are made one at a time, under one lock, so that the log has the order of the files. Stores through a shared
// mapping cannot be seen, so the mapping is recorded, and recording.py refuses the log.

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

// The numbers are those of recording.py.
enum class Kind : std::uint32_t {
  open = 1,
  write = 2,
  resize = 3,
  allocate = 4,
  sync = 5,
  rename = 6,
  unlink = 7,
  link = 8,
  make_directory = 9,
  remove_directory = 10,
  skipped_sync = 12,
  shared_mapping = 13,
};
enum OpenValue : std::uint32_t { opened = 0, created = 1, unnamed = 2 };

// The fields before path, other path and data in the log.
struct RecordHeader {
  std::uint32_t magic = 0x4345'5254;
  Kind kind;
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;
  std::uint64_t data_size = 0;
  std::int32_t error = 0;
  std::uint32_t value = 0;
  std::uint32_t path_size = 0;
  std::uint32_t other_size = 0;
};
static_assert(sizeof(RecordHeader) == 48);

struct Record {
  Kind kind;
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;
  std::uint32_t value = 0;
  std::int32_t error = 0;
  std::string path = {};
  std::string other = {};
};

// A number counted from 1, "all", or none.
class Nth {
 public:
  explicit Nth(const char* text) {
    if (text == nullptr) return;
    all_ = std::strcmp(text, "all") == 0;
    if (!all_) chosen_ = std::strtoull(text, nullptr, 10);
  }
  bool next() { return ++count_ == chosen_ || all_; }

 private:
  bool all_ = false;
  std::uint64_t chosen_ = 0;
  std::uint64_t count_ = 0;
};

class Recorder {
 public:
  static Recorder& instance() {
    static Recorder* recorder = new Recorder;  // never destroyed: other destructors still write
    return *recorder;
  }

  bool active() const { return !directory_.empty(); }
  std::mutex& mutex() { return mutex_; }

  // The path of a descriptor or name relative to the directory; empty if it is not below it.
  std::string path_of(int fd) const {
    char path[PATH_MAX];
    const ssize_t size = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof path);
    return size > 0 ? below({path, static_cast<std::size_t>(size)}) : std::string();
  }

  std::string path_of(int at, const char* name) const {
    std::string whole = name;
    if (whole.empty()) return {};
    if (whole[0] != '/' && at != AT_FDCWD) whole = "/proc/self/fd/" + std::to_string(at) + "/" + whole;
    while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
    const std::size_t slash = whole.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : slash == 0 ? "/" : whole.substr(0, slash);
    const std::string last = slash == std::string::npos ? whole : whole.substr(slash + 1);
    char real[PATH_MAX];
    return realpath(parent.c_str(), real) == nullptr ? std::string() : below(std::string(real) + "/" + last);
  }

  // Called before each call that will be recorded.
  void count_call() {
    if (kill_.next()) kill(getpid(), SIGKILL);
  }

  bool fails_sync() { return fail_sync_.next(); }
  int space_error() const { return space_error_; }
  bool is_short_write() { return short_write_.next(); }

  bool skips_sync(const std::string& path) {
    if (skip_glob_.empty() || fnmatch(skip_glob_.c_str(), path.c_str(), 0) != 0) return false;
    return !skip_one_ || skip_.next();
  }

  // How many of the bytes up to `end` fit into the remaining space of a file; they are then taken.
  std::uint64_t take_space(int fd, std::uint64_t begin, std::uint64_t end) {
    if (!limited_) return end - begin;
    struct stat state = {};
    fstat(fd, &state);
    const std::uint64_t size = static_cast<std::uint64_t>(state.st_size);
    std::uint64_t& taken = taken_.try_emplace(state.st_ino, size).first->second;
    taken = std::max(taken, size);
    if (end <= taken) return end - begin;
    const std::uint64_t granted = std::min(end - taken, space_);
    space_ -= granted;
    taken += granted;
    return taken > begin ? taken - begin : 0;
  }

  // Releases space: the file now ends at `size`, or is gone.
  void give_space(std::uint64_t inode, std::uint64_t old_size, std::uint64_t size) {
    if (!limited_) return;
    std::uint64_t& taken = taken_.try_emplace(inode, old_size).first->second;
    if (taken > size) space_ += taken - size;
    taken = size;
  }

  void append(const Record& record, const struct iovec* data = nullptr, int parts = 0, std::size_t data_size = 0) {
    RecordHeader header{.kind = record.kind, .inode = record.inode, .offset = record.offset};
    header.data_size = data_size;
    header.error = record.error;
    header.value = record.value;
    header.path_size = static_cast<std::uint32_t>(record.path.size());
    header.other_size = static_cast<std::uint32_t>(record.other.size());
    std::string out(reinterpret_cast<const char*>(&header), sizeof header);
    out += record.path + record.other;
    for (int i = 0; i < parts && data_size > 0; i++) {
      const std::size_t part = std::min(data[i].iov_len, data_size);
      out.append(static_cast<const char*>(data[i].iov_base), part);
      data_size -= part;
    }
    std::string_view rest = out;
    while (!rest.empty()) {
      const long written = syscall(SYS_write, log(), rest.data(), rest.size());
      if (written <= 0) {
        std::fputs("write_recorder: cannot write the log\n", stderr);
        abort();
      }
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }

 private:
  Recorder()
      : fail_sync_(getenv("RECORDER_FAIL_SYNC")),
        short_write_(getenv("RECORDER_SHORT_WRITE")),
        kill_(getenv("RECORDER_KILL")),
        skip_(nullptr) {
    char real[PATH_MAX];
    const char* directory = getenv("RECORDER_DIRECTORY");
    if (directory != nullptr && getenv("RECORDER_LOG") != nullptr && realpath(directory, real) != nullptr) {
      directory_ = real;
      log_path_ = getenv("RECORDER_LOG");
    }
    const char* const quota = getenv("RECORDER_QUOTA_AFTER");
    if (const char* const space = quota ? quota : getenv("RECORDER_NO_SPACE_AFTER")) {
      limited_ = true;
      space_ = std::strtoull(space, nullptr, 10);
      if (quota) space_error_ = EDQUOT;
    }
    if (const char* skip = getenv("RECORDER_SKIP_SYNC")) {
      const std::string text = skip;
      const std::size_t colon = text.rfind(':');
      skip_glob_ = text.substr(0, colon);
      skip_one_ = colon != std::string::npos;
      if (skip_one_) skip_ = Nth(text.c_str() + colon + 1);
    }
  }

  std::string below(std::string_view path) const {
    if (path == directory_) return ".";
    if (path.size() <= directory_.size() || path.substr(0, directory_.size()) != directory_) return {};
    return path[directory_.size()] == '/' ? std::string(path.substr(directory_.size() + 1)) : std::string();
  }

  // The log is opened again in each forked process, which may not have inherited the descriptor.
  int log() {
    if (log_ < 0 || log_owner_ != getpid()) {
      const long fd = syscall(SYS_openat, AT_FDCWD, log_path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
      // Moves it away from low numbers, which programs may close or compare.
      log_ = fcntl(static_cast<int>(fd), F_DUPFD_CLOEXEC, 700);
      syscall(SYS_close, fd);
      log_owner_ = getpid();
    }
    return log_;
  }

  std::mutex mutex_;
  std::string directory_;
  std::string log_path_;
  int log_ = -1;
  pid_t log_owner_ = 0;
  Nth fail_sync_;
  Nth short_write_;
  Nth kill_;
  std::string skip_glob_;
  bool skip_one_ = false;
  Nth skip_;
  bool limited_ = false;
  int space_error_ = ENOSPC;
  std::uint64_t space_ = 0;
  std::map<std::uint64_t, std::uint64_t> taken_;  // inode -> end of its allocated space
};

struct FileState {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::uint64_t links = 0;
};

FileState state_of(int fd) {
  struct stat state = {};
  if (fstat(fd, &state) != 0) return {};
  return {state.st_ino, static_cast<std::uint64_t>(state.st_size), state.st_nlink};
}

bool state_at(int at, const char* name, FileState& result) {
  struct stat state = {};
  if (fstatat(at, name, &state, AT_SYMLINK_NOFOLLOW) != 0) return false;
  result = {state.st_ino, static_cast<std::uint64_t>(state.st_size), state.st_nlink};
  return true;
}

std::int32_t error_of(long result) { return result < 0 ? errno : 0; }

// Runs `call` and then `note`, and preserves the errno of `call`.
template <class Call, class Note>
long observed(Call call, Note note) {
  const long result = call();
  const int error = errno;
  note(result);
  errno = error;
  return result;
}

int open_at(int at, const char* name, int flags, mode_t mode) {
  const auto call = [&] { return syscall(SYS_openat, at, name, flags, mode); };
  Recorder& recorder = Recorder::instance();
  const bool changes = (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_ACCMODE) != O_RDONLY;
  if (!recorder.active() || !changes) return static_cast<int>(call());
  const std::scoped_lock lock(recorder.mutex());
  const bool without_name = (flags & O_TMPFILE) == O_TMPFILE;
  const std::string wanted =
      without_name ? recorder.path_of(at, (std::string(name) + "/x").c_str()) : recorder.path_of(at, name);
  if (wanted.empty()) return static_cast<int>(call());
  FileState before;
  const bool existed = !without_name && state_at(at, name, before);
  if (!existed || (flags & O_TRUNC) != 0) recorder.count_call();
  return static_cast<int>(observed(call, [&](long fd) {
    if (fd < 0) return;
    const FileState now = state_of(static_cast<int>(fd));
    const std::uint32_t value = without_name ? unnamed : existed ? opened : created;
    recorder.append(
        {.kind = Kind::open, .inode = now.inode, .value = value, .path = recorder.path_of(static_cast<int>(fd))});
    if (existed && (flags & O_TRUNC) != 0) {
      recorder.give_space(now.inode, before.size, 0);
      recorder.append({.kind = Kind::resize, .inode = now.inode, .path = wanted});
    }
  }));
}

// `make(parts, count)` writes the given parts and returns what write(2) would; `offset` < 0: at the file's position.
template <class Write>
ssize_t write_parts(int fd, const struct iovec* parts, int count, off_t offset, Write make) {
  Recorder& recorder = Recorder::instance();
  if (!recorder.active()) return make(parts, count);
  const std::string path = recorder.path_of(fd);
  if (path.empty()) return make(parts, count);
  const std::scoped_lock lock(recorder.mutex());
  recorder.count_call();

  std::uint64_t wanted = 0;
  for (int i = 0; i < count; i++) wanted += parts[i].iov_len;
  const FileState before = state_of(fd);
  const bool appends = (fcntl(fd, F_GETFL) & O_APPEND) != 0;
  const std::uint64_t begin = appends       ? before.size
                              : offset >= 0 ? static_cast<std::uint64_t>(offset)
                                            : static_cast<std::uint64_t>(lseek(fd, 0, SEEK_CUR));
  std::uint64_t granted = recorder.take_space(fd, begin, begin + wanted);
  if (recorder.is_short_write() && granted > 1) granted /= 2;
  if (granted == 0 && wanted > 0) {
    errno = recorder.space_error();
    return -1;
  }
  std::vector<struct iovec> part(parts, parts + count);
  std::uint64_t left = granted;
  for (struct iovec& p : part) {
    p.iov_len = std::min<std::uint64_t>(p.iov_len, left);
    left -= p.iov_len;
  }
  return observed([&] { return make(part.data(), count); },
                  [&](long result) {
                    if (result > 0) {
                      recorder.append({.kind = Kind::write, .inode = before.inode, .offset = begin, .path = path},
                                      part.data(), count, static_cast<std::size_t>(result));
                    }
                  });
}

// For calls that move bytes into a file inside the kernel: the bytes are read back.
template <class Call>
ssize_t write_in_kernel(int fd, off64_t* offset, Call call) {
  Recorder& recorder = Recorder::instance();
  const std::string path = recorder.active() ? recorder.path_of(fd) : std::string();
  if (path.empty()) return call();
  const std::scoped_lock lock(recorder.mutex());
  recorder.count_call();
  const std::uint64_t begin = static_cast<std::uint64_t>(offset != nullptr ? *offset : lseek(fd, 0, SEEK_CUR));
  return observed(call, [&](long result) {
    if (result <= 0) return;
    std::vector<char> data(static_cast<std::size_t>(result));
    const long again =
        syscall(SYS_openat, AT_FDCWD, ("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC);
    if (syscall(SYS_pread64, again, data.data(), data.size(), begin) != result) abort();
    syscall(SYS_close, again);
    const struct iovec part { data.data(), data.size() };
    recorder.append({.kind = Kind::write, .inode = state_of(fd).inode, .offset = begin, .path = path}, &part, 1,
                    data.size());
  });
}

int sync_file(int fd, long number, std::uint32_t data_only) {
  const auto call = [&] { return syscall(number, fd); };
  Recorder& recorder = Recorder::instance();
  const std::string path = recorder.active() ? recorder.path_of(fd) : std::string();
  if (path.empty()) return static_cast<int>(call());
  const std::scoped_lock lock(recorder.mutex());
  recorder.count_call();
  const std::uint64_t inode = state_of(fd).inode;
  if (recorder.skips_sync(path)) {
    recorder.append({.kind = Kind::skipped_sync, .inode = inode, .value = data_only, .path = path});
    return 0;
  }
  if (recorder.fails_sync()) {
    recorder.append({.kind = Kind::sync, .inode = inode, .value = data_only, .error = EIO, .path = path});
    errno = EIO;
    return -1;
  }
  return static_cast<int>(observed(call, [&](long result) {
    recorder.append({.kind = Kind::sync, .inode = inode, .value = data_only, .error = error_of(result), .path = path});
  }));
}

int resize_file(int fd, off64_t size) {
  const auto call = [&] { return syscall(SYS_ftruncate, fd, size); };
  Recorder& recorder = Recorder::instance();
  const std::string path = recorder.active() ? recorder.path_of(fd) : std::string();
  if (path.empty()) return static_cast<int>(call());
  const std::scoped_lock lock(recorder.mutex());
  recorder.count_call();
  const FileState before = state_of(fd);
  return static_cast<int>(observed(call, [&](long result) {
    if (result != 0) return;
    const std::uint64_t end = static_cast<std::uint64_t>(size);
    if (end < before.size) recorder.give_space(before.inode, before.size, end);
    recorder.append({.kind = Kind::resize, .inode = before.inode, .offset = end, .path = path});
  }));
}

// `value` of the record is the mode; its data are the length, in eight bytes.
int allocate(int fd, int mode, off64_t offset, off64_t length) {
  const auto call = [&] { return syscall(SYS_fallocate, fd, mode, offset, length); };
  Recorder& recorder = Recorder::instance();
  const std::string path = recorder.active() ? recorder.path_of(fd) : std::string();
  if (path.empty()) return static_cast<int>(call());
  const std::scoped_lock lock(recorder.mutex());
  recorder.count_call();
  const std::uint64_t wanted = static_cast<std::uint64_t>(length);
  const bool grows = (mode & ~FALLOC_FL_KEEP_SIZE) == 0;
  if (grows && recorder.take_space(fd, static_cast<std::uint64_t>(offset),
                                   static_cast<std::uint64_t>(offset) + wanted) < wanted) {
    errno = recorder.space_error();
    return -1;
  }
  return static_cast<int>(observed(call, [&](long result) {
    if (result != 0) return;
    std::uint64_t size = wanted;
    const struct iovec part { &size, sizeof size };
    recorder.append({.kind = Kind::allocate,
                     .inode = state_of(fd).inode,
                     .offset = static_cast<std::uint64_t>(offset),
                     .value = static_cast<std::uint32_t>(mode),
                     .path = path},
                    &part, 1, sizeof size);
  }));
}

int rename_at(int from_at, const char* from, int to_at, const char* to, unsigned flags) {
  const auto call = [&] { return syscall(SYS_renameat2, from_at, from, to_at, to, flags); };
  Recorder& recorder = Recorder::instance();
  if (!recorder.active()) return static_cast<int>(call());
  const std::scoped_lock lock(recorder.mutex());
  const std::string source = recorder.path_of(from_at, from);
  const std::string target = recorder.path_of(to_at, to);
  if (source.empty() && target.empty()) return static_cast<int>(call());
  recorder.count_call();
  FileState replaced;
  const bool replaces = (flags & (RENAME_EXCHANGE | RENAME_NOREPLACE)) == 0 && state_at(to_at, to, replaced);
  return static_cast<int>(observed(call, [&](long result) {
    if (result != 0) return;
    FileState moved;
    state_at(to_at, to, moved);
    if (replaces && replaced.links == 1 && replaced.inode != moved.inode) {
      recorder.give_space(replaced.inode, replaced.size, 0);
    }
    recorder.append({.kind = Kind::rename, .inode = moved.inode, .value = flags, .path = source, .other = target});
  }));
}

int unlink_at(int at, const char* name, int flags) {
  const auto call = [&] { return syscall(SYS_unlinkat, at, name, flags); };
  Recorder& recorder = Recorder::instance();
  if (!recorder.active()) return static_cast<int>(call());
  const std::scoped_lock lock(recorder.mutex());
  const std::string path = recorder.path_of(at, name);
  if (path.empty()) return static_cast<int>(call());
  recorder.count_call();
  FileState before;
  state_at(at, name, before);
  const bool directory = (flags & AT_REMOVEDIR) != 0;
  return static_cast<int>(observed(call, [&](long result) {
    if (result != 0) return;
    if (!directory && before.links == 1) recorder.give_space(before.inode, before.size, 0);
    recorder.append({.kind = directory ? Kind::remove_directory : Kind::unlink, .inode = before.inode, .path = path});
  }));
}

int link_at(int from_at, const char* from, int to_at, const char* to, int flags) {
  const auto call = [&] { return syscall(SYS_linkat, from_at, from, to_at, to, flags); };
  Recorder& recorder = Recorder::instance();
  if (!recorder.active()) return static_cast<int>(call());
  const std::scoped_lock lock(recorder.mutex());
  const std::string path = recorder.path_of(to_at, to);
  if (path.empty()) return static_cast<int>(call());
  recorder.count_call();
  return static_cast<int>(observed(call, [&](long result) {
    FileState state;
    if (result == 0 && state_at(to_at, to, state)) {
      recorder.append({.kind = Kind::link, .inode = state.inode, .path = path});
    }
  }));
}

int make_directory_at(int at, const char* name, mode_t mode) {
  const auto call = [&] { return syscall(SYS_mkdirat, at, name, mode); };
  Recorder& recorder = Recorder::instance();
  if (!recorder.active()) return static_cast<int>(call());
  const std::scoped_lock lock(recorder.mutex());
  const std::string path = recorder.path_of(at, name);
  if (path.empty()) return static_cast<int>(call());
  recorder.count_call();
  return static_cast<int>(observed(call, [&](long result) {
    FileState state;
    if (result == 0 && state_at(at, name, state)) {
      recorder.append({.kind = Kind::make_directory, .inode = state.inode, .path = path});
    }
  }));
}

void* map_memory(void* address, size_t length, int protection, int flags, int fd, off64_t offset) {
  void* memory = reinterpret_cast<void*>(syscall(SYS_mmap, address, length, protection, flags, fd, offset));
  if (fd >= 0 && (flags & MAP_SHARED) != 0 && (protection & PROT_WRITE) != 0 && memory != MAP_FAILED) {
    Recorder& recorder = Recorder::instance();
    const std::string path = recorder.active() ? recorder.path_of(fd) : std::string();
    if (!path.empty()) {
      const std::scoped_lock lock(recorder.mutex());
      recorder.append({.kind = Kind::shared_mapping, .inode = state_of(fd).inode, .path = path});
    }
  }
  return memory;
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

// stdio opens files inside the C library, where the recorder cannot see it. Only a stream opened here is recorded.
FILE* open_stream(const char* name, const char* mode) {
  const bool updates = std::strchr(mode, '+') != nullptr;
  int flags = updates ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
  if (mode[0] == 'w') flags |= O_CREAT | O_TRUNC;
  if (mode[0] == 'a') flags |= O_CREAT | O_APPEND;
  if (std::strchr(mode, 'x') != nullptr) flags |= O_EXCL;
  if (std::strchr(mode, 'e') != nullptr) flags |= O_CLOEXEC;
  const int fd = open_at(AT_FDCWD, name, flags, 0666);
  return fd < 0 ? nullptr : fdopen(fd, mode);
}

}  // namespace

EXPORTED int open(const char* name, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_at(AT_FDCWD, name, flags, mode);
}

EXPORTED int open64(const char* name, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_at(AT_FDCWD, name, flags, mode);
}

EXPORTED int openat(int at, const char* name, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_at(at, name, flags, mode);
}

EXPORTED int openat64(int at, const char* name, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_at(at, name, flags, mode);
}

// The names by which fortified programs call the four functions above.
EXPORTED int __open_2(const char* name, int flags) { return open_at(AT_FDCWD, name, flags, 0); }
EXPORTED int __open64_2(const char* name, int flags) { return open_at(AT_FDCWD, name, flags, 0); }
EXPORTED int __openat_2(int at, const char* name, int flags) { return open_at(at, name, flags, 0); }
EXPORTED int __openat64_2(int at, const char* name, int flags) { return open_at(at, name, flags, 0); }

EXPORTED int creat(const char* name, mode_t mode) {
  return open_at(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
EXPORTED int creat64(const char* name, mode_t mode) {
  return open_at(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
EXPORTED FILE* fopen(const char* name, const char* mode) { return open_stream(name, mode); }
EXPORTED FILE* fopen64(const char* name, const char* mode) { return open_stream(name, mode); }

EXPORTED ssize_t write(int fd, const void* data, size_t size) {
  const struct iovec part { const_cast<void*>(data), size };
  return write_parts(fd, &part, 1, -1,
                     [&](const struct iovec* p, int) { return syscall(SYS_write, fd, p->iov_base, p->iov_len); });
}

EXPORTED ssize_t writev(int fd, const struct iovec* parts, int count) {
  return write_parts(fd, parts, count, -1, [&](const struct iovec* p, int n) { return syscall(SYS_writev, fd, p, n); });
}

EXPORTED ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  const struct iovec part { const_cast<void*>(data), size };
  return write_parts(fd, &part, 1, offset, [&](const struct iovec* p, int) {
    return syscall(SYS_pwrite64, fd, p->iov_base, p->iov_len, offset);
  });
}

EXPORTED ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  return pwrite(fd, data, size, offset);
}

// The kernel takes the offset in two halves; the second is 0 if a long has 64 bits.
EXPORTED ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t offset) {
  return write_parts(fd, parts, count, offset,
                     [&](const struct iovec* p, int n) { return syscall(SYS_pwritev, fd, p, n, offset, 0L); });
}

EXPORTED ssize_t pwritev64(int fd, const struct iovec* parts, int count, off64_t offset) {
  return pwritev(fd, parts, count, offset);
}

EXPORTED ssize_t pwritev2(int fd, const struct iovec* parts, int count, off_t offset, int flags) {
  return write_parts(fd, parts, count, offset,
                     [&](const struct iovec* p, int n) { return syscall(SYS_pwritev2, fd, p, n, offset, 0L, flags); });
}

EXPORTED ssize_t pwritev64v2(int fd, const struct iovec* parts, int count, off64_t offset, int flags) {
  return pwritev2(fd, parts, count, offset, flags);
}

EXPORTED ssize_t copy_file_range(int in, off64_t* in_offset, int out, off64_t* out_offset, size_t size,
                                 unsigned flags) {
  return write_in_kernel(out, out_offset,
                         [&] { return syscall(SYS_copy_file_range, in, in_offset, out, out_offset, size, flags); });
}

EXPORTED ssize_t sendfile(int out, int in, off_t* offset, size_t size) noexcept {
  return write_in_kernel(out, nullptr, [&] { return syscall(SYS_sendfile, out, in, offset, size); });
}

EXPORTED ssize_t sendfile64(int out, int in, off64_t* offset, size_t size) noexcept {
  return write_in_kernel(out, nullptr, [&] { return syscall(SYS_sendfile, out, in, offset, size); });
}

EXPORTED ssize_t splice(int in, off64_t* in_offset, int out, off64_t* out_offset, size_t size, unsigned flags) {
  return write_in_kernel(out, out_offset,
                         [&] { return syscall(SYS_splice, in, in_offset, out, out_offset, size, flags); });
}

EXPORTED int fsync(int fd) { return sync_file(fd, SYS_fsync, 0); }
EXPORTED int fdatasync(int fd) { return sync_file(fd, SYS_fdatasync, 1); }
EXPORTED int ftruncate(int fd, off_t size) noexcept { return resize_file(fd, size); }
EXPORTED int ftruncate64(int fd, off64_t size) noexcept { return resize_file(fd, size); }
EXPORTED int fallocate(int fd, int mode, off_t offset, off_t length) { return allocate(fd, mode, offset, length); }
EXPORTED int fallocate64(int fd, int mode, off64_t offset, off64_t length) {
  return allocate(fd, mode, offset, length);
}
EXPORTED int posix_fallocate(int fd, off_t offset, off_t length) {
  return allocate(fd, 0, offset, length) == 0 ? 0 : errno;
}
EXPORTED int posix_fallocate64(int fd, off64_t offset, off64_t length) { return posix_fallocate(fd, offset, length); }

EXPORTED int truncate(const char* name, off_t size) noexcept {
  const long fd = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  const int result = resize_file(static_cast<int>(fd), size);
  const int error = errno;
  syscall(SYS_close, fd);
  errno = error;
  return result;
}
EXPORTED int truncate64(const char* name, off64_t size) noexcept { return truncate(name, size); }

EXPORTED int rename(const char* from, const char* to) noexcept { return rename_at(AT_FDCWD, from, AT_FDCWD, to, 0); }
EXPORTED int renameat(int from_at, const char* from, int to_at, const char* to) noexcept {
  return rename_at(from_at, from, to_at, to, 0);
}
EXPORTED int renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) noexcept {
  return rename_at(from_at, from, to_at, to, flags);
}
EXPORTED int unlink(const char* name) noexcept { return unlink_at(AT_FDCWD, name, 0); }
EXPORTED int unlinkat(int at, const char* name, int flags) noexcept { return unlink_at(at, name, flags); }
EXPORTED int rmdir(const char* name) noexcept { return unlink_at(AT_FDCWD, name, AT_REMOVEDIR); }
EXPORTED int remove(const char* name) noexcept {
  const int result = unlink_at(AT_FDCWD, name, 0);
  return result != 0 && errno == EISDIR ? unlink_at(AT_FDCWD, name, AT_REMOVEDIR) : result;
}
EXPORTED int link(const char* from, const char* to) noexcept { return link_at(AT_FDCWD, from, AT_FDCWD, to, 0); }
EXPORTED int linkat(int from_at, const char* from, int to_at, const char* to, int flags) noexcept {
  return link_at(from_at, from, to_at, to, flags);
}
EXPORTED int mkdir(const char* name, mode_t mode) noexcept { return make_directory_at(AT_FDCWD, name, mode); }
EXPORTED int mkdirat(int at, const char* name, mode_t mode) noexcept { return make_directory_at(at, name, mode); }

EXPORTED void* mmap(void* address, size_t length, int protection, int flags, int fd, off_t offset) noexcept {
  return map_memory(address, length, protection, flags, fd, offset);
}
EXPORTED void* mmap64(void* address, size_t length, int protection, int flags, int fd, off64_t offset) noexcept {
  return map_memory(address, length, protection, flags, fd, offset);
}
