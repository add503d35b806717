// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace tfile {

// Two threads of the process for the cache on disk: a write may wait for a slow disk, and no read waits for it. They
// start with the first work. When the process ends, what is to be written is given a few seconds.

// False, and nothing is done, if the thread cannot be made.
bool start_disk_read(std::function<void()>);

// The same if writes with more than 64 MiB wait: the disk is too slow to be a cache.
bool start_disk_write(std::uint64_t bytes, std::function<void()>);

// Waits until all writes that were started have ended, or the time is over. For tests, and for the end of a process.
bool wait_for_disk_writes(int seconds);

}  // namespace tfile
