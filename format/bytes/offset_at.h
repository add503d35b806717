// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bytes/endian.h"

namespace tfile {

// The number with that place in a column of offsets. The caller must have checked that it is there.
inline std::int64_t offset_at(std::span<const std::byte> offsets, std::size_t i) {
  return load_little<std::int64_t>(offsets.data() + sizeof(std::int64_t) * i);
}

}  // namespace tfile
