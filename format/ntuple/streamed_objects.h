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

// Objects in streamer fields: the bytes written by the streamer of their class, each as if alone in its buffer.

// The class descriptions for streamer fields: a TList of TStreamerInfo, after its object header. Unreadable parts are
// reported in `warnings`.
StreamerInfos read_streamer_infos(const std::string& content, std::vector<std::string>& warnings);

// How to decode the bytes of an object of this class. Errors: unsupported, with a reason for the user.
Result<Layout> layout_of_class(const StreamerInfos&, const std::string& class_name);

// Decodes the objects of a cluster. `ends`: the ends of the objects, counted from `begin`, the start of the first of
// the contiguous `pieces`. `first` and `items` as in run_program. Errors: damaged, unsupported.
Result<Chunk> decode_objects(const Program&, std::span<const std::int64_t> ends, std::int64_t begin,
                             std::span<const std::span<const std::byte>> pieces, std::span<const std::int64_t> first,
                             std::vector<std::int64_t>* items);

}  // namespace tfile
