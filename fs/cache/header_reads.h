// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <vector>

#include "cache/extent_store.h"
#include "tfile/stream_set.h"

namespace tfilefs {

// Reads the headers of chunks, which tell how many items these hold. Those that are asked for together are read
// together, from a server in one round trip. Blocks.

// Whether the bytes of the stream come from a server.
bool is_remote(const tfile::StreamSet&, tfile::StreamId);
// The origin of its bytes, for the threads that read there.
tfile::ServerId origin_of(const tfile::StreamSet&, tfile::StreamId);

// Extents that several hold, or the error.
Result<ExtentsPtr> held(Result<tfile::Extents>);

// The headers that are read of one stream, or of many.
class HeaderReads {
 public:
  explicit HeaderReads(const AttachedSet& set) : set_(set) {}

  // The headers of chunks [begin, end).
  void add(tfile::StreamId, std::size_t begin, std::size_t end);
  void add_all(tfile::StreamId);
  // The same of all chunks. Of the first ones, which a reader wants next, all bytes are read along, and what their
  // decoding takes of other streams: about as many as arrive during a round trip. A remote source keeps these bytes.
  void add_with_payload(tfile::StreamId);

  // Reads them. Once.
  void read();

  // The bytes of the headers that were added for the stream: each may be followed by more bytes of its chunk.
  using Headers = std::span<const Result<std::vector<std::byte>>>;
  Headers of(tfile::StreamId) const;
  // The extents of a stream all of whose headers were read. The set learns of them what they tell of other streams.
  Result<ExtentsPtr> extents(tfile::StreamId) const;

 private:
  void add_locator(tfile::StreamId, Result<tfile::Locator>);
  void add_inputs(tfile::StreamId, std::size_t chunks);

  const AttachedSet& set_;
  std::vector<Result<tfile::Locator>> locators_;
  std::vector<tfile::StreamId> streams_;                                   // of each
  std::map<tfile::StreamId, std::pair<std::size_t, std::size_t>> places_;  // of the headers of a stream
  std::vector<Result<std::vector<std::byte>>> bytes_;
};

inline constexpr std::size_t kHeaderBatch = 4096;  // headers read by one call: about 1 MB

// The extents of a stream, from its headers, kHeaderBatch at a time. The set learns of them, too.
Result<ExtentsPtr> extents_from_headers(const AttachedSet&, tfile::StreamId, const std::stop_token& stop);

}  // namespace tfilefs
