// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

namespace tfilefs {

// How far a field has come: its complete entries, and when it was written.
struct FieldProgress {
  using Time = std::chrono::steady_clock::time_point;
  std::int64_t entries = 0;
  Time first_write{}, last_write{};
};

// Whether the fields grow together: each was written after the last of them had got its first bytes. While fields still
// arrive one after the other, another one may come, and the entries cut so far would have to be written again. Pure.
bool in_step(std::span<const FieldProgress>);

}  // namespace tfilefs
