// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tfile/range.h"
#include "tfile/result.h"

namespace tfile {

// What tells one state of a source from the next: two reads under equal identities saw the same bytes. What `object`
// and `state` are made of is the affair of the source: of a local file, device and inode, and when they last changed.
struct Identity {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;           // since the epoch; 0 where nobody tells
  std::array<std::uint64_t, 2> object{};  // which one it is, by whatever name it was found
  std::uint64_t state = 0;                // differs where the same object holds other bytes
  bool is_same_object(const Identity& other) const { return object == other.object; }
  friend bool operator==(const Identity&, const Identity&) = default;
};
// Of a local file, as every source that opens it has it.
Identity identity_of(const struct stat&);

// What reads of a source cost, for those who plan them. The values here are a local disk's.
struct SourceTraits {
  std::chrono::microseconds delay{0};              // from a request to the first byte of its answer
  std::uint64_t bytes_per_second = 1'000'000'000;  // of all requests together
  std::uint64_t request_max = 40 << 20;            // bytes of one request
  std::size_t ranges_max = SIZE_MAX;               // ranges of one request
  std::size_t requests_max = 1;                    // requests that are worth having under way at once
  // Whether each read says by itself that the source has changed since it was opened (stale): nothing has to look
  // afterwards.
  bool tells_changes = false;
  // Bytes that could have come while a request waits for its answer: a gap of so many is sooner read than left out, and
  // a reader needs at least twice as many asked for ahead of him.
  std::uint64_t bytes_in_flight() const {
    return static_cast<std::uint64_t>(std::chrono::duration<double>(delay).count() *
                                      static_cast<double>(bytes_per_second));
  }
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
  virtual SourceTraits traits() const { return {}; }

  // One vectored read: fills into[i] with the bytes of ranges[i] (equal sizes; best sorted by address; no more of them
  // nor of their bytes than the traits say, if they are more than one). All of them, or an error: io, or damaged where
  // a range lies beyond the end.
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
