// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

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

// Errors: damaged (impossible sizes). Reads nothing.
Result<KeyPayload> payload_of(const Source& source, const KeyInfo& key);

// Whether the key before the record is the one that the key list describes. `record` has at least the key.
bool is_told(const KeyPayload& payload, std::span<const std::byte> record);

}  // namespace tfile
