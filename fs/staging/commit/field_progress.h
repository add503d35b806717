// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

namespace tfilefs {

// How far a field has come: entries that are complete, and when it was written to.
struct FieldProgress {
  using Time = std::chrono::steady_clock::time_point;
  std::int64_t entries = 0;
  Time first_write{}, last_write{};
};

// Whether the fields grow together: each was written to after the last of them had its first bytes. While they arrive
// one after the other, a field may still come for which the entries cut so far would have to be written once more.
// Pure.
bool in_step(std::span<const FieldProgress>);

}  // namespace tfilefs
