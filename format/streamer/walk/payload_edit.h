// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/result.h"

namespace tfile {

// Bytes for a position that lies in the object itself, in none of those that it points to.
struct Insertion {
  std::size_t position = 0;
  std::span<const std::byte> bytes;
};

// The payload with these insertions, in the order of their positions. Everything that depends on places is corrected:
// byte counts of the object and of its bases, class tags, references. Errors: unsupported (a part cannot be read, so
// that what is in it is not known), damaged.
Result<std::vector<std::byte>> insert_in_payload(const StreamerInfos&, std::string_view class_name,
                                                 std::span<const std::byte> payload, std::uint32_t keylen,
                                                 std::span<const Insertion>);

// The payload with references that count from the start of another key, of another length. Errors: as above.
Result<std::vector<std::byte>> move_references(const StreamerInfos&, std::string_view class_name,
                                               std::span<const std::byte> payload, std::uint32_t keylen,
                                               std::uint32_t new_keylen);

}  // namespace tfile
