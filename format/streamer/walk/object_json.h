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

// The object of a key in ROOT's JSON (TBufferJSON::ConvertToJSON), with the members that the file has: `_typename` and
// the members; `{"$ref": n}` for an object that was already written as number n; numbers with ROOT's digits (float 7,
// double 15). Unreadable parts become `"$unread": reason`. Arguments and errors as in visit_object. Further errors:
// unsupported if the text is out of proportion to the payload or longer than 1 GiB; io with ECANCELED if stopped.
Result<std::string> object_json(const StreamerInfos& infos, std::string_view class_name,
                                std::span<const std::byte> payload, std::uint32_t keylen,
                                const std::stop_token& stop = {});

}  // namespace tfile
