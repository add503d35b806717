// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/result.h"

namespace tfile {

// The payload of a file's first StreamerInfo record, decompressed, for a key of `keylen` bytes.
std::vector<std::byte> encode_streamer_infos(std::span<const StreamerInfo* const> infos, std::uint32_t keylen);

// The payload that replaces an existing one: `payload` stays unchanged and in place, and `infos` follow. `keylen` is
// that of the old key, and the new key must have the same, since tags count from the start of the key. Errors: damaged
// (not a list).
Result<std::vector<std::byte>> add_streamer_infos(std::span<const std::byte> payload,
                                                  std::span<const StreamerInfo* const> infos, std::uint32_t keylen);

// The descriptions that a file with the descriptions `known` lacks for objects of `classes` as they are written here:
// these classes, their bases and their members' classes, in the versions of ROOT 6.40, except for classes that ROOT
// never describes.
std::vector<const StreamerInfo*> missing_streamer_infos(std::span<const std::string> classes,
                                                        const StreamerInfos& known);

}  // namespace tfile
