// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "streamer/info/streamer_info.h"
#include "tfile/result.h"

namespace tfile {

// The object of a key as ROOT's JSON (TBufferJSON::ConvertToJSON), with the members that the file has: `_typename` and
// members, `{"$ref": n}` for an object that stands at place n already, numbers with ROOT's digits (float 7, double 15).
// What could not be read stands as `"$unread": reason`. Arguments and errors as visit_object; unsupported also when the
// text would be out of proportion to the payload, or longer than 1 GiB; io with ECANCELED when it was asked to stop.
Result<std::string> object_json(const StreamerInfos& infos, std::string_view class_name,
                                std::span<const std::byte> payload, std::uint32_t keylen,
                                const std::stop_token& stop = {});

}  // namespace tfile
