// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace tfile {

// One thread of the process looks at all transfers that are under way: whether one has waited for too long, or is to be
// tried again. It starts with the first of them, so after the daemon's fork, sleeps while there is none, and ends with
// the process. Both functions may be called from any thread, and wait for nothing.

// Calls `look` some times a second until it returns false. It must not block. False, and it is never called, if there
// is no thread to be had.
using WatchLook = std::function<bool(std::chrono::steady_clock::time_point now)>;
bool watch(WatchLook look);

// Lets go of an object on the thread: for what must not be destroyed inside one of its own callbacks.
void let_go_later(std::shared_ptr<void>);

}  // namespace tfile
