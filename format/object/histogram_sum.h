// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/result.h"
#include "tfile/stored_histogram.h"

namespace tfile {

// `keylen`: as in visit_object. Errors: unsupported (no histogram that could be added to), damaged.
Result<std::unique_ptr<StoredHistogram>> open_stored_histogram(std::shared_ptr<const StreamerInfos>,
                                                               std::string class_name, std::vector<std::byte> payload,
                                                               std::uint32_t keylen);

}  // namespace tfile
