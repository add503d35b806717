// SPDX-License-Identifier: Apache-2.0
#include "cli/inside_files.h"

#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <future>
#include <memory>

#include "cli/nearest_name.h"
#include "cli/source_names.h"
#include "tfile/local_file.h"
#include "vfs/names/path_pattern.h"
#include "waited.h"

namespace tfilefs {

using tfile::fail;

namespace {

// A read that is answered later.
std::future<Result<Slices>> begin_read(FileSystem& fs, HandleId handle, std::uint64_t offset) {
  constexpr std::size_t kPieceSize = 1 << 20;  // as the kernel's largest read: the cache reads ahead as for a mount
  auto promise = std::make_shared<std::promise<Result<Slices>>>();
  std::future<Result<Slices>> piece = promise->get_future();
  fs.read(handle, offset, kPieceSize,
          Reply<Slices>([promise](Result<Slices> result) { promise->set_value(std::move(result)); }));
  return piece;
}

Result<> take_pieces(FileSystem& fs, HandleId handle, std::uint64_t offset,
                     const std::function<Result<>(const Slices&)>& take) {
  std::future<Result<Slices>> next = begin_read(fs, handle, offset);
  for (;;) {
    TRY(const Slices piece, next.get());
    const std::size_t size = piece.size();
    if (size == 0) return {};
    offset += size;
    next = begin_read(fs, handle, offset);
    auto taken = take(piece);
    if (taken) continue;
    (void)next.get();  // its answer must not outlive the file system
    return taken;
  }
}

// Adds what matches the patterns from number `level` on, below a directory.
Result<> add_matches(FileSystem& fs, InodeId directory, const std::vector<std::string>& patterns, std::size_t level,
                     const std::string& above, std::vector<InsideFile>& into) {
  TRY(const auto names, names_in(fs, directory));
  for (const ListedName& each : names) {
    if (!matches(patterns[level], each.name)) continue;
    const bool is_last = level + 1 == patterns.size();
    if (!is_last && !each.is_directory) continue;
    TRY(const auto found,
        waited<FileSystem::Found>([&](auto reply) { fs.lookup(directory, each.name, std::move(reply)); }));
    HeldInode inode(fs, found);
    const std::string path = above.empty() ? each.name : above + "/" + each.name;
    if (is_last) {
      into.push_back({path, std::move(inode)});
    } else {
      TRY_VOID(add_matches(fs, inode.id(), patterns, level + 1, path, into));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<InsideFile>> files_at(FileSystem& fs, const std::string& path) {
  std::vector<InsideFile> files;
  if (has_pattern(path)) {
    TRY(const auto root, fs.find_path(""));
    TRY(const auto alternatives, without_braces(path));
    for (const std::string& pattern : alternatives) {
      if (const auto patterns = names_in(pattern); !patterns.empty())
        TRY_VOID(add_matches(fs, root.id, patterns, 0, "", files));
    }
    if (files.empty()) return fail(ErrorKind::not_found, "nothing matches this pattern");
    return files;
  }
  std::string named = path;
  auto found = fs.find_path(named);
  if (!found && found.error().kind == ErrorKind::not_found && unescaped(path) != path) {
    named = unescaped(path);
    found = fs.find_path(named);
  }
  if (!found) {
    if (found.error().kind == ErrorKind::not_found) found.error().text += like_name_of(fs, named);
    return tl::unexpected(std::move(found).error());
  }
  std::string plain;
  for (const std::string& name : names_in(named)) plain += (plain.empty() ? "" : "/") + name;
  files.push_back({plain, HeldInode(fs, *found)});
  return files;
}

Result<> read_whole(FileSystem& fs, InodeId id, std::uint64_t offset,
                    const std::function<Result<>(const Slices&)>& take) {
  TRY(const auto opened, waited<FileSystem::Opened>([&](auto reply) { fs.open(id, std::move(reply)); }));
  auto taken = take_pieces(fs, opened.handle, offset, take);
  fs.release(opened.handle);
  return taken;
}

Result<> write_slices(int descriptor, const std::string& shown, const Slices& slices) {
  std::vector<iovec> pieces;
  for (const auto piece : slices.pieces)
    if (!piece.empty()) pieces.push_back({const_cast<std::byte*>(piece.data()), piece.size()});
  for (std::size_t first = 0; first < pieces.size();) {
    const auto count = static_cast<int>(std::min<std::size_t>(pieces.size() - first, IOV_MAX));
    const ssize_t written = ::writev(descriptor, &pieces[first], count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return tfile::system_error("cannot write " + shown, errno);
    auto left = static_cast<std::size_t>(written);
    for (; first < pieces.size() && left >= pieces[first].iov_len; ++first) left -= pieces[first].iov_len;
    if (left > 0) pieces[first] = {static_cast<char*>(pieces[first].iov_base) + left, pieces[first].iov_len - left};
  }
  return {};
}

}  // namespace tfilefs
