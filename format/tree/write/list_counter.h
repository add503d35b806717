// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "tfile/writer.h"

namespace tfile {

// Whether a column can be the counter of a list (TLeaf::fLeafCount): a branch of its own, of one integer per entry.
bool can_count(const OfferedColumn&);

// The column that counts the items of a field's lists. It is a field of its own, too; a part of the lists is checked
// against it. Nothing if their number is not a leaf.
std::optional<std::uint32_t> counter_of(const FieldForm&);

}  // namespace tfile
