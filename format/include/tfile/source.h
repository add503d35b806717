// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <sys/stat.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/range.h"
#include "tfile/result.h"

namespace tfile {

// Tells one state of a source from another: two reads under equal identities saw the same bytes. The source decides
// what goes into `object` and `state`. A local file uses its device and inode, and the time of its last change.
struct Identity {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;           // since the epoch; 0: unknown
  std::array<std::uint64_t, 2> object{};  // the object itself, under whatever name it was found
  std::uint64_t state = 0;                // differs if the same object holds other bytes
  bool is_of_copy = false;                // of one of several copies, which have dates of their own
  bool is_same_object(const Identity& other) const { return object == other.object; }
  // Whether another opening may have found the same bytes: of copies, only the sizes can be compared.
  bool may_be_same(const Identity& other) const {
    return *this == other || (is_of_copy && other.is_of_copy && is_same_object(other) && size == other.size);
  }
  friend bool operator==(const Identity&, const Identity&) = default;
};
// The identity of a local file. Every source that opens it has the same one.
Identity identity_of(const struct stat&);

// The cost of reading from a source, for the code that plans reads. The defaults fit a local disk.
struct SourceTraits {
  std::chrono::microseconds delay{0};              // from a request to the first byte of the answer
  std::uint64_t bytes_per_second = 1'000'000'000;  // over all requests together
  std::uint64_t request_max = 40 << 20;            // bytes in one request
  std::size_t ranges_max = SIZE_MAX;               // ranges in one request
  std::size_t requests_max = 1;                    // requests that are worth having under way at once
  // True if each read itself reports that the source has changed since it was opened (error: stale). Its identity then
  // need not be checked after a read.
  bool tells_changes = false;
  // True if start_read() does not wait for storage.
  bool starts_reads = false;
  // Bytes that come as an answer of their own: what is read together is divided into parts of about this size, so that
  // the first are decoded while the others arrive. 0: as the reader likes.
  std::uint64_t answer_bytes = 0;
  // The first and last bytes of the file that are in memory: reading them takes no request.
  std::uint64_t begin_held = 0, end_held = 0;
  // Reading through a gap of up to this size costs less than a further range. A local disk: the kernel would read it
  // anyway.
  std::uint64_t gap_free = 16 << 10;
  // The number of bytes that could have arrived while a request waits for its answer. To stay ahead of a reader, at
  // least twice as many must be requested in advance.
  std::uint64_t bytes_in_flight() const {
    return static_cast<std::uint64_t>(std::chrono::duration<double>(delay).count() *
                                      static_cast<double>(bytes_per_second));
  }
};

// Requests of a source to its server.
struct SourceCounts {
  std::uint64_t requests = 0;     // also those that were sent again
  std::uint64_t ranges = 0;       // of all requests
  std::uint64_t bytes = 0;        // that came
  std::uint64_t retries = 0;      // requests that were sent again
  std::uint64_t round_trips = 0;  // requests that were sent before one of them was answered are one
  std::uint64_t redirects = 0;    // answers that came from another server or path than was asked
  std::uint64_t in_flight = 0;    // bytes that are asked for and have not come, at the moment
  // Reads from the cache on disk (RemoteOptions::cache_directory) instead of the server. `disk_failures`: how often the
  // cache could not be used, as the disk was full, broken or not to be written.
  std::uint64_t disk_hits = 0, disk_bytes = 0, disk_failures = 0;
};

// The origin of a source: this machine, or a server. If one source hangs, others of the same origin do, too.
using ServerId = std::uint32_t;
inline constexpr ServerId kLocalOrigin = 0;

// The bytes of one file, wherever it is stored. Every function may be called from any thread, and may block.
class Source {
 public:
  virtual ~Source() = default;

  // The identity at opening, and the present one (errors: io, not_found). If they differ, the source is stale.
  virtual const Identity& identity() const = 0;
  virtual Result<Identity> identity_now() const = 0;

  virtual ServerId origin() const { return kLocalOrigin; }

  // A name for messages.
  virtual const std::string& name() const = 0;
  std::uint64_t size() const { return identity().size; }
  virtual SourceTraits traits() const { return {}; }
  virtual SourceCounts counts() const { return {}; }

  // One vectored read: fills into[i] with the bytes of ranges[i], which have equal sizes. Ranges are best sorted by
  // address. More than one range may not exceed the limits in traits(). Reads all of them or fails; errors: io, damaged
  // (a range ends past the end of the file).
  virtual Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const = 0;

  // Starts a read(). `done` is called once with its result, on any thread, perhaps before this returns; it must not
  // block. `into`, and the memory that it names, must exist until then; `ranges` need not. If traits().starts_reads is
  // false, this blocks as read() does.
  using ReadDone = std::function<void(Result<>)>;
  virtual void start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                          ReadDone done) const {
    done(read(ranges, into));
  }

  // Starts reads together: neighbours may share a request. Each `done` is called as soon as its own bytes are there.
  // The source need not keep these bytes for later reads, as the caller keeps what it makes of them.
  struct Started {
    std::vector<ByteRange> ranges;
    std::vector<std::span<std::byte>> into;  // the memory must exist until `done` is called
    ReadDone done;
  };
  virtual void start_reads(std::vector<Started> reads) const;

  // Opens a file named relative to this one's directory (TBranch::fFileName). Never leaves that directory, nor follows
  // a symbolic link out of it. Errors: not_found, denied.
  virtual Result<std::shared_ptr<const Source>> sibling(std::string_view relative_path) const = 0;
};

// Reads one range into the caller's memory.
Result<> read_range(const Source& source, ByteRange range, std::span<std::byte> into);

// How servers are asked.
struct RemoteOptions {
  std::chrono::milliseconds timeout{60'000};  // a request that makes no progress for so long fails as timed_out
  std::chrono::milliseconds recheck{5'000};   // how long an answer about a file's state is believed
  std::stop_token stop;                       // when stopped, all requests end at once with an error
  // The directory that keeps fetched bytes for later mounts (remote/disk/disk_cache.h), at most so many. Empty:
  // nowhere.
  std::string cache_directory;
  std::uint64_t cache_bytes = 10ull << 30;
  // Many files are opened together with this one: less of its end comes with the opening (remote/server/held_edges.h).
  bool is_one_of_many = false;
};

// True if the name is a URL: it begins with a scheme and "://". Which schemes are known is told by open_source().
bool is_url(std::string_view name);

// The name as messages show it: a URL without passwords and tokens.
std::string shown_name(const std::string& name);

// Opens what a user names: a local path, or a URL (root, roots, xroot, http, https, dav, davs). Errors: not_found,
// denied, io, timed_out, invalid (not a regular file, an unknown scheme, or one whose library was left out of this
// build). Blocks.
Result<std::shared_ptr<const Source>> open_source(const std::string& name, const RemoteOptions& = {});

// The identity that open_source() would find now behind a URL; opens nothing. Errors: the same. Blocks.
Result<Identity> look_remote(const std::string& url, const RemoteOptions& = {});

// The server of a URL. Asks nothing of it. kLocalOrigin for a URL that cannot be opened anyway.
ServerId origin_of_url(const std::string& url);

// Takes ownership of `fd`, which is open for reading. Siblings are looked for in `directory_fd` (borrowed and
// duplicated; -1 for none).
Result<std::shared_ptr<const Source>> adopt_source(int fd, std::string name, int directory_fd);

}  // namespace tfile
