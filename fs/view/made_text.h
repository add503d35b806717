// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "tfile/stream_set.h"

namespace tfilefs {

// `stop`: no request waits for the text any more.
using TextOfPayload =
    std::function<tfile::Result<std::string>(std::span<const std::byte> payload, const std::stop_token& stop)>;

// A text made from an object's payload, as a stream of one slot of bytes: so the cache holds it, counts it in the
// budget, and makes it again after it was evicted. `payload`: one stream of one chunk, as tfile::File::payload gives
// it. `making`: an estimate of the bytes that it takes to make the text, including the text; they are reserved with the
// payload. `stop` ends the making, but only until the length of the text is known; after that readers may have it open.
std::shared_ptr<const tfile::StreamSet> made_text(std::shared_ptr<const tfile::StreamSet> payload, TextOfPayload make,
                                                  std::uint64_t making, std::stop_token stop);

}  // namespace tfilefs
