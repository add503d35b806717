// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "streamer/layout/class_layout.h"
#include "tfile/stream_set.h"

namespace tfile {

// Objects that a streamer field holds as the bytes that their class' streamer wrote, each as if alone in its buffer.

// The classes that the RNTuple describes for them: a TList of TStreamerInfo behind its object header. What cannot be
// read of it is said in `warnings`.
StreamerInfos read_streamer_infos(const std::string& content, std::vector<std::string>& warnings);

// How the bytes of an object of this class become arrays. Errors: unsupported, with the reason as a user should read
// it.
Result<Layout> layout_of_class(const StreamerInfos&, const std::string& class_name);

// The objects of a cluster: `ends` are where they end, counted from `begin`, which is where `pieces` begin, one behind
// the other. `first`, `items` as run_program has them. Errors: damaged, unsupported.
Result<Chunk> decode_objects(const Program&, std::span<const std::int64_t> ends, std::int64_t begin,
                             std::span<const std::span<const std::byte>> pieces, std::span<const std::int64_t> first,
                             std::vector<std::int64_t>* items);

}  // namespace tfile
