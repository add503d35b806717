// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <new>
#include <utility>

#include "reply.h"

namespace tfilefs {

// Calls an operation that answers through a Reply, and waits for the answer: also where the operation throws, since the
// reply may be elsewhere already, and answers when it is dropped.
template <class T, class Call>
Result<T> waited(Call call) {
  std::promise<Result<T>> promise;
  Reply<T> reply([&](Result<T> result) { promise.set_value(std::move(result)); });
  try {
    call(std::move(reply));
  } catch (const std::bad_alloc&) {
    reply = Reply<T>();
  }
  return promise.get_future().get();
}

}  // namespace tfilefs
