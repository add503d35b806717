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

// The payload of a StreamerInfo record, decompressed, for a key of `keylen` bytes: of a file that has none yet.
std::vector<std::byte> encode_streamer_infos(std::span<const StreamerInfo* const> infos, std::uint32_t keylen);

// That of a file which has one: everything of `payload` stays where and as it is, `infos` follow. `keylen` is the old
// key's and must be the new one's, since tags count from the start of the key. Errors: damaged (not a list).
Result<std::vector<std::byte>> add_streamer_infos(std::span<const std::byte> payload,
                                                  std::span<const StreamerInfo* const> infos, std::uint32_t keylen);

// What a file that describes `known` must describe besides, to hold objects of `classes` as they are written here:
// they, their bases and what they contain, in the versions of ROOT 6.40, but for the classes that ROOT does not
// describe.
std::vector<const StreamerInfo*> missing_streamer_infos(std::span<const std::string> classes,
                                                        const StreamerInfos& known);

}  // namespace tfile
