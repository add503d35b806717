// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <utility>

#include "reply.h"

namespace tfilefs {

// Calls an operation that answers through a Reply, and waits for the answer.
template <class T, class Call>
Result<T> waited(Call call) {
  std::promise<Result<T>> promise;
  call(Reply<T>([&](Result<T> result) { promise.set_value(std::move(result)); }));
  return promise.get_future().get();
}

}  // namespace tfilefs
