// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "streamer/info/streamer_info.h"
#include "tfile/file.h"
#include "tfile/object.h"

namespace tfile {

// An object of TTable, or of a class derived from it: rows of a C structure, which the object itself describes
// (docs/format.md, "Tables of structures"). Each member is an array. The arguments are those of open_object(). nullptr:
// the class is another one. If the rows cannot be read, there are no arrays, and a warning.
std::shared_ptr<const Object> open_row_table(const StreamerInfos&, const KeyInfo&,
                                             std::shared_ptr<const StreamSet> payload_streams,
                                             std::span<const std::byte> payload);

}  // namespace tfile
