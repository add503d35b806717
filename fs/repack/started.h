// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <utility>

namespace tfilefs {

// Hands a function over to `run`, which runs it on another thread; its result can be waited for.
template <class T, class Run>
std::future<T> started(Run run, std::function<T()> function) {
  auto promise = std::make_shared<std::promise<T>>();
  std::future<T> result = promise->get_future();
  run([promise, function = std::move(function)] {
    try {
      promise->set_value(function());
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
  });
  return result;
}

}  // namespace tfilefs
