// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "tfile/tree_extras.h"
#include "tree/record/record_outline.h"

namespace tfile {

// Pure. `payload`: that of the outline.
TreeExtras extras_in(std::span<const std::byte> payload, const RecordOutline&);

}  // namespace tfile
