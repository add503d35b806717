// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "staging/commit/table_progress.h"

namespace tfilefs {

bool in_step(std::span<const FieldProgress> fields) {
  if (fields.empty()) return false;
  const auto newest = std::ranges::max_element(fields, {}, &FieldProgress::first_write)->first_write;
  return std::ranges::all_of(fields, [&](const FieldProgress& field) { return field.last_write >= newest; });
}

}  // namespace tfilefs
