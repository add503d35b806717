// SPDX-License-Identifier: Apache-2.0
// Reads whole columns of a mount into memory and sums them, like a program that needs the numbers. Prints wall and CPU
// seconds from open(2) to the sum of all, and the sum. --drop: first makes the kernel drop the pages of the columns, so
// that every byte comes from the daemon again. --mapped: by mmap instead of read(2).
//
//   column_sum [--drop] [--mapped] PATH:TYPE...|--list FILE      TYPE: f4 f8 i4 b1, or - for bytes that are only read

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kBlock = 1 << 20;  // the largest request that the kernel sends to a FUSE server

struct Column {
  std::string path, type;
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <class T>
double sum_of(const void* data, std::size_t size) {
  const T* values = static_cast<const T*>(data);
  double sum = 0;
  for (std::size_t i = 0; i < size / sizeof(T); ++i) sum += values[i];
  return sum;
}

[[noreturn]] void give_up(const std::string& path) {
  std::perror(path.c_str());
  std::exit(1);
}

double sum_of(const std::string& type, const void* data, std::size_t size) {
  if (type == "f4") return sum_of<float>(data, size);
  if (type == "f8") return sum_of<double>(data, size);
  if (type == "i4") return sum_of<std::int32_t>(data, size);
  if (type == "b1") return sum_of<std::uint8_t>(data, size);
  return 0;
}

// Memory for a column; huge pages if it is large, as in NumPy.
using Memory = std::unique_ptr<char, decltype(&std::free)>;
Memory memory_for(std::size_t size) {
  constexpr std::size_t kHuge = 2 << 20;
  const std::size_t rounded = (size / kHuge + 1) * kHuge;
  Memory memory(static_cast<char*>(size < kHuge ? std::malloc(size + 1) : std::aligned_alloc(kHuge, rounded)),
                &std::free);
  if (memory && size >= kHuge) madvise(memory.get(), rounded, MADV_HUGEPAGE);
  return memory;
}

double read_column(const Column& column, bool mapped) {
  const int fd = open(column.path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0) give_up(column.path);
  const auto size = static_cast<std::size_t>(status.st_size);
  double sum = 0;
  if (mapped) {
    void* data = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) give_up(column.path);
    sum = sum_of(column.type, data, size);
    munmap(data, size);
  } else {
    // Values are summed while they are in the processor's cache, and stay in memory for further use.
    const Memory data = memory_for(size);
    for (std::size_t at = 0; at < size;) {
      const ssize_t got = read(fd, data.get() + at, std::min(kBlock, size - at));
      if (got <= 0) give_up(column.path);
      const auto n = static_cast<std::size_t>(got);
      sum += sum_of(column.type, data.get() + at, n);
      at += n;
    }
  }
  close(fd);
  return sum;
}

void drop_pages(const Column& column) {
  const int fd = open(column.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0) give_up(column.path);
  close(fd);
}

Column column_of(const std::string& argument) {
  const auto colon = argument.rfind(':');
  return {argument.substr(0, colon), argument.substr(colon + 1)};
}

}  // namespace

int main(int argc, char** argv) {
  bool drop = false, mapped = false;
  std::vector<Column> columns;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--drop") {
      drop = true;
    } else if (argument == "--mapped") {
      mapped = true;
    } else if (argument == "--list" && i + 1 < argc) {
      std::ifstream list(argv[++i]);
      for (std::string line; std::getline(list, line);) columns.push_back(column_of(line));
    } else {
      columns.push_back(column_of(argument));
    }
  }
  if (drop)
    for (const Column& column : columns) drop_pages(column);
  const auto begin = std::chrono::steady_clock::now();
  const double cpu_begin = cpu_seconds();
  double sum = 0;
  for (const Column& column : columns) sum += read_column(column, mapped);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  std::printf("%.6f %.6f %.17g\n", wall.count(), cpu_seconds() - cpu_begin, sum);
}
