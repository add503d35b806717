// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "array/arrow_metadata.h"
#include "tfile/result.h"

namespace tfilefs {

// Decompresses the bytes of an Arrow buffer, without the length in front, into all of `into`. Errors: damaged.
tfile::Result<> decompress_arrow(ArrowCodec, std::span<const std::byte> from, std::span<std::byte> into);

}  // namespace tfilefs
