// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tfile/range.h"
#include "tfile/result.h"

namespace tfile {

// What tells one state of a source from the next: two reads under equal identities saw the same bytes.
struct Identity {
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  friend bool operator==(const Identity&, const Identity&) = default;
};

// Where sources come from that hang together when one of them does: this machine, or a server.
using SourceOrigin = std::uint32_t;
inline constexpr SourceOrigin kLocalOrigin = 0;

// The bytes of one file, wherever they lie. Every function may be called from any thread, and may block.
class Source {
 public:
  virtual ~Source() = default;

  // The identity at opening, and the one now (errors: io, not_found). Unequal means stale.
  virtual const Identity& identity() const = 0;
  virtual Result<Identity> identity_now() const = 0;

  virtual SourceOrigin origin() const { return kLocalOrigin; }

  // A name for messages.
  virtual const std::string& name() const = 0;
  std::uint64_t size() const { return identity().size; }

  // One vectored read: fills into[i] with the bytes of ranges[i] (equal sizes; best sorted by address). All or an
  // error: `io`, or `damaged` when a range lies beyond the end.
  virtual Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const = 0;

  // A file named relative to this one's directory (TBranch::fFileName). Never leaves that directory, never follows a
  // symbolic link out of it. Errors: not_found, denied.
  virtual Result<std::shared_ptr<const Source>> sibling(std::string_view relative_path) const = 0;
};

// Reads one range into a new buffer's worth of memory that the caller owns.
Result<> read_range(const Source& source, ByteRange range, std::span<std::byte> into);

// Opens a local path; errors: not_found, denied, io, invalid (not a regular file).
Result<std::shared_ptr<const Source>> open_source(const std::string& path);

// Takes ownership of a descriptor that is open for reading. `directory_fd` (borrowed, duplicated; -1 for none) is where
// siblings are looked for.
Result<std::shared_ptr<const Source>> adopt_source(int fd, std::string name, int directory_fd);

}  // namespace tfile
