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

// Whether objects of this class are opened by open_large_object(): histograms and profiles.
bool may_be_large(const StreamerInfos&, std::string_view class_name);

// The arrays in the payload of an object that take a megabyte or more: places of their bytes. All other bytes are
// wanted. Errors: of visit_object().
Result<std::vector<ByteRange>> long_arrays(const StreamerInfos&, std::string_view class_name, const PayloadBytes&,
                                           std::uint32_t keylen);

// The same object without its long arrays in `payload`, which is kept.
std::shared_ptr<const Object> open_large_object(std::shared_ptr<const StreamerInfos> infos, const KeyInfo& key,
                                                std::shared_ptr<const StreamSet> payload_streams,
                                                std::shared_ptr<const PayloadBytes> payload);

}  // namespace tfile
