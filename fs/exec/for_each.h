// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include "exec/when_all.h"

namespace tfilefs {

// Calls step(i, Reply<>) for i = 0, 1, ..., count - 1, each when the one before has answered; then replies. The first
// error ends it, and so does the stop token of the reply. Otherwise as when_all().
template <class Step>
void for_each(std::size_t count, Step step, Reply<void> reply) {
  when_all(count, 1, std::move(step), std::move(reply));
}

// The same where the steps make something, which is the reply: step(i, Made&, Reply<>).
template <class Made, class Step, class T>
void for_each(std::size_t count, Made made, Step step, Reply<T> reply) {
  when_all(count, 1, std::move(made), std::move(step), std::move(reply));
}

}  // namespace tfilefs
