// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "container/key.h"
#include "tfile/file.h"
#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// A record as its entry in a key list describes it, checked for plausibility.
struct KeyPayload {
  ByteRange record;
  std::uint32_t keylen = 0;
  std::uint64_t size = 0;  // decompressed
  std::string name;
  bool is_bare = false;  // no key precedes it
};

// The key before a record as a key list would have it: class and sizes. The class is a view of the header's.
KeyInfo info_of_record(const KeyHeader&, std::uint64_t address);

// Errors: damaged (impossible sizes). Reads nothing.
Result<KeyPayload> payload_of(const Source& source, const KeyInfo& key);

// Fails if the key before the record is not the one that the key list describes. `record` has at least the key. Errors:
// damaged.
Result<> check_told(const KeyPayload& payload, std::span<const std::byte> record);

// The error for such a record. `own`: what its key has, and the list has otherwise.
tl::unexpected<Error> not_the_listed(const KeyHeader& own, const KeyHeader& listed, std::uint64_t at);

}  // namespace tfile
