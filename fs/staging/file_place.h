// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "descriptor.h"
#include "reply.h"
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
  // The file for writing. Errors: not_found, denied.
  Result<Descriptor> open_to_write() const;

  // A new file beside it, not seen under its name until publish() has put it there: synced, renamed, the directory
  // synced. An older one that a crash left is replaced.
  Result<Descriptor> make_temporary(mode_t) const;
  Result<> publish(int temporary) const;
  void drop_temporary() const;

  struct Owner {
    uid_t uid = 0;
    gid_t gid = 0;
    mode_t mode = 0;
    bool exists = false;
  };
  Owner owner() const;  // of the file; where it does not exist: who a new one belongs to
};

std::string temporary_name(std::string_view file_name);  // ".out.root.tfilefs-tmp"
inline constexpr std::string_view kTemporarySuffix = ".tfilefs-tmp";

// All of the bytes, at `offset`. Errors: no_space, io.
Result<> write_all(int fd, std::uint64_t offset, std::span<const std::byte>);
Result<> sync_data(int fd);
// The first bytes of the file, as many as there are up to `size`.
Result<std::vector<std::byte>> read_head(int fd, std::size_t size);
tl::unexpected<Error> system_error(const std::string& what, int number);

}  // namespace tfilefs
