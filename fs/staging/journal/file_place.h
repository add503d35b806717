// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "descriptor.h"
#include "reply.h"
#include "tfile/local_file.h"
#include "tfile/source.h"

namespace tfilefs {

// The file itself, under whatever name it was found.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};
// Nothing if there is no such file; a link is not followed.
std::optional<FileId> id_at(int directory, const std::string& name);
std::optional<FileId> id_of(int open_file);

// The place of a ROOT file that is written: a name in a directory, whatever becomes of the path that led there. Every
// function may block; plain system calls.
struct FilePlace {
  Descriptor directory;
  std::string name;
  std::string shown;  // path, for messages

  // The file for reading, as a source. Error: not_found.
  Result<std::shared_ptr<const tfile::Source>> source() const;

  // Bytes of the file system that contains it, used or free.
  std::uint64_t capacity() const;
  // The file for writing. Errors: not_found, denied.
  Result<Descriptor> open_to_write() const;
  // Its first kFileHeadSize bytes; none if there is no file. Errors: denied, io.
  Result<std::vector<std::byte>> head() const;

  // The owner of a file, and its permission bits.
  struct Owner {
    uid_t uid = 0;
    gid_t gid = 0;
    mode_t mode = 0;
  };
  std::optional<FileId> id() const { return id_at(directory.get(), name); }

  std::optional<Owner> owner() const;  // nothing if there is no file
  // The user that must own a journal beside it for the journal to be trusted: the owner of the file. If there is no
  // file, it is this process's user; or any user (nothing), if this process may give files away.
  std::optional<uid_t> journal_owner() const;
  // Changes owner, bits and times of the file. `modified`: UTIME_NOW and UTIME_OMIT as in utimensat(2).
  Result<> change(const Owner&, timespec modified) const;
};

// The place that a path names, whether or not there is a file. Error: that of opening its directory.
Result<FilePlace> place_of(const std::string& path);

// The sector that holds the header and the record of the root directory: every program that writes a ROOT file changes
// it.
inline constexpr std::size_t kFileHeadSize = 512;
// Whether two heads, each of which may be cut short, are of the same state of a file. Bytes behind the header and the
// root directory's record do not count. An empty head means that there is no file.
bool is_same_head(std::span<const std::byte>, std::span<const std::byte>);

FilePlace::Owner process_owner();  // the owner of files that this process makes for itself

// Whether both are one name in one directory, whatever paths led there.
bool is_same_entry(const FilePlace&, const FilePlace&);

inline constexpr std::string_view kTemporarySuffix = ".tfilefs-tmp";

// All of the bytes, at `offset`. Errors: no_space, io.
Result<> write_all(int fd, std::uint64_t offset, std::span<const std::byte>);
// Writes a file beside it, which then takes its place: what opens it finds all of the bytes, or all of the former ones.
// Nobody else has that file: several processes may write one. Returns the file. Errors: denied, no_space, io.
Result<FileId> replace_file(const std::string& path, std::string_view bytes, mode_t);
Result<> sync_data(int fd);
// All bytes of the one file, into the other, which is empty. Errors: no_space, io.
Result<> copy_all(int from, int to);
// The bytes from `offset`, as many as there are up to `size`.
Result<std::vector<std::byte>> read_at(int fd, std::uint64_t offset, std::size_t size);
using tfile::system_error;

}  // namespace tfilefs
