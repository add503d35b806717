// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "bytes/payload_bytes.h"
#include "streamer/walk/object_json.h"
#include "tfile/pieced_text.h"

namespace tfile {

// The text of object_json() in pieces: it is written once without being kept, to know its size. A short one
// is one piece. Of a long one the numbers of arrays are pieces, and what is between them is kept; if that is much, the
// pieces are stretches of the text, each made by a walk over the whole object that leaves out what is before.
// `in_memory`: whether such a walk can be made; else that is unsupported. Other errors: as write_object_json().
Result<std::shared_ptr<const PiecedText>> json_pieces(std::shared_ptr<const StreamerInfos>, std::string class_name,
                                                      const PayloadBytes&, std::uint32_t keylen, bool in_memory,
                                                      const std::stop_token& stop);

// Whether json_pieces() makes the text of a payload whose long arrays are not in memory: little of it is between
// arrays.
bool has_short_outline(const StreamerInfos&, std::string_view class_name, std::span<const std::byte> payload,
                       std::uint32_t keylen);

}  // namespace tfile
