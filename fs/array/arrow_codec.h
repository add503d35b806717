// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "array/arrow_metadata.h"
#include "tfile/result.h"

namespace tfilefs {

// The bytes of a compressed Arrow buffer, without the length in front: all of `into`. Errors: damaged.
tfile::Result<> decompress_arrow(ArrowCodec, std::span<const std::byte> from, std::span<std::byte> into);

}  // namespace tfilefs
