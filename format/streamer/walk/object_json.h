// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "streamer/info/streamer_info.h"
#include "streamer/walk/object_visitor.h"
#include "tfile/result.h"

namespace tfile {

// Takes a text as it is made. An error ends the making.
class JsonSink {
 public:
  virtual ~JsonSink() = default;
  virtual Result<> text(std::string_view) = 0;
  virtual Result<> numbers(const StoredNumbers&) = 0;  // all of them, as append_numbers() writes them
  std::uint64_t size = 0;                              // of the text so far, kept by the sink
};

// The object of a key in ROOT's JSON (TBufferJSON::ConvertToJSON), with the members that the file has: `_typename` and
// the members; `{"$ref": n}` for an object that was already written as number n; numbers with ROOT's digits (float 7,
// double 15). Unreadable parts become `"$unread": reason`. Arguments and errors as in visit_object. Further errors:
// unsupported if the text is out of proportion to the payload; io with ECANCELED if stopped; those of the sink.
Result<> write_object_json(const StreamerInfos& infos, std::string_view class_name, std::span<const std::byte> payload,
                           std::uint32_t keylen, JsonSink& sink, const std::stop_token& stop = {});

// The same as one text.
Result<std::string> object_json(const StreamerInfos& infos, std::string_view class_name,
                                std::span<const std::byte> payload, std::uint32_t keylen,
                                const std::stop_token& stop = {});

}  // namespace tfile
