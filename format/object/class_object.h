// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "streamer/info/streamer_info.h"
#include "tfile/file.h"
#include "tfile/object.h"

namespace tfile {

// The object of a key whose class the streamer infos describe. `payload_streams` as File::payload gives them, `payload`
// what they decode to. Damage of what arrays would be made of leaves the arrays out and is a warning. Never fails: what
// else cannot be read is an error of json() and its kin.
std::shared_ptr<const Object> open_object(std::shared_ptr<const StreamerInfos> infos, const KeyInfo& key,
                                          std::shared_ptr<const StreamSet> payload_streams,
                                          std::span<const std::byte> payload);

}  // namespace tfile
