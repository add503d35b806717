// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bytes/payload_bytes.h"
#include "streamer/info/streamer_info.h"
#include "tfile/file.h"
#include "tfile/object.h"

namespace tfile {

// The object of a key whose class the streamer infos describe. `payload_streams`: from File::payload; `payload`: the
// bytes to which they decode. If the members for the arrays are damaged, there are no arrays, and a warning. Never
// fails: other unreadable parts are errors of json() and similar functions.
std::shared_ptr<const Object> open_object(std::shared_ptr<const StreamerInfos> infos, const KeyInfo& key,
                                          std::shared_ptr<const StreamSet> payload_streams,
                                          std::span<const std::byte> payload);

// The same object without the contents of its histograms in `payload` (let_go_of_contents()), which is kept.
// `in_memory`: so many other bytes it has.
std::shared_ptr<const Object> open_large_object(std::shared_ptr<const StreamerInfos> infos, const KeyInfo& key,
                                                std::shared_ptr<const StreamSet> payload_streams,
                                                std::shared_ptr<const PayloadBytes> payload, std::uint64_t in_memory);

}  // namespace tfile
