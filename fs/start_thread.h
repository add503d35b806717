// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace tfilefs {

// For work that others can do, or that can wait: false if the system gives no thread (ulimit -u), or no memory for one.
// A thread without which nothing can go on is made at the start, where std::system_error ends the program with a line.
template <class Thread, class Function>
bool start_thread(Thread& place, Function function) {
  try {
    place = Thread(std::move(function));
    return true;
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace tfilefs
