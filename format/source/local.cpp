// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>
#include <vector>

#include "source/open_local.h"
#include "tfile/errnos.h"
#include "tfile/local_file.h"
#include "tfile/request.h"
#include "tfile/source.h"

namespace tfile {
namespace {

Result<Identity> identity_now_of(int fd, const std::string& name) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return system_error(name, errno);
  if (S_ISDIR(status.st_mode))
    return fail(ErrorKind::invalid, name + ": is a directory, not a ROOT file", -1, errnos::kIsADirectory);
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::invalid, name + ": not a regular file");
  return identity_of(status);
}

// With O_NONBLOCK, opening a FIFO does not wait for its writer. It has no effect on regular files.
constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

class LocalSource final : public Source {
 public:
  LocalSource(Descriptor file, Descriptor directory, std::string name, Identity identity)
      : file_(std::move(file)), directory_(std::move(directory)), name_(std::move(name)), identity_(identity) {}

  const Identity& identity() const override { return identity_; }
  Result<Identity> identity_now() const override { return identity_now_of(file_.get(), name_); }
  const std::string& name() const override { return name_; }
  Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const override;
  Result<std::shared_ptr<const Source>> sibling(std::string_view relative_path) const override;

 private:
  Result<> fill(std::uint64_t offset, std::vector<iovec>& pieces) const;
  tl::unexpected<Error> early_end(std::uint64_t offset) const;

  Descriptor file_;
  Descriptor directory_;
  std::string name_;
  Identity identity_;
};

// Ranges that are adjacent become one preadv.
Result<> LocalSource::read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const {
  if (ranges.size() != into.size())
    return fail(ErrorKind::invalid, name_ + ": number of buffers differs from number of ranges");
  std::vector<iovec> pieces;
  for (std::size_t i = 0; i < ranges.size();) {
    const std::uint64_t begin = ranges[i].begin;
    std::uint64_t end = begin;
    pieces.clear();
    for (; i < ranges.size() && ranges[i].begin == end && pieces.size() < IOV_MAX; ++i) {
      const std::uint64_t size = ranges[i].size;
      if (into[i].size() != size)
        return fail(ErrorKind::invalid, name_ + ": buffer size differs from the size of its range");
      TRY_VOID(check_range(*this, ranges[i]));
      if (size != 0) pieces.push_back({into[i].data(), size});
      end += size;
    }
    TRY_VOID(fill(begin, pieces));
  }
  return {};
}

Result<> LocalSource::fill(std::uint64_t offset, std::vector<iovec>& pieces) const {
  std::span<iovec> left(pieces);
  while (!left.empty()) {
    const ssize_t got = ::preadv(file_.get(), left.data(), static_cast<int>(left.size()), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int number = errno;
      return fail(ErrorKind::io, name_ + ": " + std::strerror(number), static_cast<std::int64_t>(offset), number);
    }
    if (got == 0) return early_end(offset);
    offset += static_cast<std::uint64_t>(got);
    std::size_t taken = static_cast<std::size_t>(got);
    while (!left.empty() && taken >= left.front().iov_len) {
      taken -= left.front().iov_len;
      left = left.subspan(1);
    }
    if (taken != 0) {
      left.front().iov_base = static_cast<char*>(left.front().iov_base) + taken;
      left.front().iov_len -= taken;
    }
  }
  return {};
}

// The error for bytes that the file had when it was opened and has no longer.
tl::unexpected<Error> LocalSource::early_end(std::uint64_t offset) const {
  const Result<Identity> now = identity_now();
  const auto at = static_cast<std::int64_t>(offset);
  if (now && *now == identity_)
    return fail(ErrorKind::io, name_ + ": the storage has fewer bytes than the size of the file", at,
                errnos::kStorageFailed);
  return fail(ErrorKind::stale, name_ + ": changed since it was opened", at);
}

Result<std::shared_ptr<const Source>> LocalSource::sibling(std::string_view relative_path) const {
  const std::string path(relative_path);
  const std::string shown = name_ + ": file \"" + path + "\" next to it";
  if (path.empty()) return fail(ErrorKind::not_found, shown + ": no name");
  if (path.front() == '/' || path.find('\0') != std::string::npos)
    return fail(ErrorKind::denied, shown + ": not a relative path");
  if (!directory_) return fail(ErrorKind::not_found, shown + ": its directory is unknown");
  Descriptor file = open_beneath(directory_.get(), path, kReadFlags, true);
  if (!file) return system_error(shown, errno);
  const std::size_t slash = path.rfind('/');
  Descriptor parent =
      open_beneath(directory_.get(), slash == std::string::npos ? "." : path.substr(0, slash), kDirectoryFlags, true);
  TRY(const Identity identity, identity_now_of(file.get(), shown));
  return std::make_shared<const LocalSource>(std::move(file), std::move(parent), path, identity);
}

}  // namespace

Identity identity_of(const struct stat& status) {
  const auto nanoseconds = [](const timespec& t) { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; };
  return {static_cast<std::uint64_t>(status.st_size),
          nanoseconds(status.st_mtim),
          {status.st_dev, status.st_ino},
          static_cast<std::uint64_t>(nanoseconds(status.st_ctim))};
}

Result<std::shared_ptr<const Source>> open_local(const std::string& path) {
  Descriptor file(::open(path.c_str(), kReadFlags));
  if (!file) return system_error(path, errno);
  TRY(const Identity identity, identity_now_of(file.get(), path));
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  Descriptor directory(::open(parent.c_str(), kDirectoryFlags));
  return std::make_shared<const LocalSource>(std::move(file), std::move(directory), path, identity);
}

Result<std::shared_ptr<const Source>> adopt_source(int fd, std::string name, int directory_fd) {
  Descriptor file(fd);
  Descriptor directory(directory_fd < 0 ? -1 : ::fcntl(directory_fd, F_DUPFD_CLOEXEC, 0));
  TRY(const Identity identity, identity_now_of(file.get(), name));
  return std::make_shared<const LocalSource>(std::move(file), std::move(directory), std::move(name), identity);
}

}  // namespace tfile
