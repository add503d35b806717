// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "descriptor.h"
#include "reply.h"
#include "tfile/local_file.h"
#include "tfile/source.h"

namespace tfilefs {

// Where a ROOT file that is written lies: a name in a directory, whatever becomes of the path that led there. Every
// function may block; plain system calls.
struct FilePlace {
  Descriptor directory;
  std::string name;
  std::string shown;  // path, for messages

  // The file for reading, as a source. Error: not_found.
  Result<std::shared_ptr<const tfile::Source>> source() const;

  // Bytes of the file system that it lies on, full or free.
  std::uint64_t capacity() const;
  // The file for writing. Errors: not_found, denied.
  Result<Descriptor> open_to_write() const;
  // Its first kFileHeadSize bytes; none where there is no file. Errors: denied, io.
  Result<std::vector<std::byte>> head() const;

  // Whom a file belongs to, and its permission bits.
  struct Owner {
    uid_t uid = 0;
    gid_t gid = 0;
    mode_t mode = 0;
  };
  // A new file beside it, not seen under its name until publish() has put it there: synced, renamed, the directory
  // synced. An older one that a crash left is replaced.
  Result<Descriptor> make_temporary(const Owner&) const;
  Result<> publish(int temporary) const;
  void drop_temporary() const;

  std::optional<Owner> owner() const;  // nothing where there is no file
  // Whose a journal beside it must be to be believed: the file's owner's. Where there is no file, that of who asks; of
  // any user (nothing), if who asks may give files away.
  std::optional<uid_t> journal_owner() const;
  // Gives the file to others, sets its bits and times. `modified`: UTIME_NOW and UTIME_OMIT as in utimensat(2).
  Result<> change(const Owner&, timespec modified) const;
};

// The sector that the header shares with the record of the root directory: whoever writes a ROOT file changes it.
inline constexpr std::size_t kFileHeadSize = 512;
// Whether a file with the one head is in the state that the other was read of; each may be cut short. What lies behind
// the header and the root directory's record does not count. No head is that of no file.
bool is_same_head(std::span<const std::byte>, std::span<const std::byte>);

FilePlace::Owner process_owner();  // of files that this process makes for nobody else

std::string temporary_name(std::string_view file_name);  // ".out.root.tfilefs-tmp"
inline constexpr std::string_view kTemporarySuffix = ".tfilefs-tmp";

// All of the bytes, at `offset`. Errors: no_space, io.
Result<> write_all(int fd, std::uint64_t offset, std::span<const std::byte>);
Result<> sync_data(int fd);
// Bytes from `offset`, as many as there are up to `size`.
Result<std::vector<std::byte>> read_at(int fd, std::uint64_t offset, std::size_t size);
using tfile::system_error;

}  // namespace tfilefs
