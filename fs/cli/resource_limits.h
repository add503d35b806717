// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace tfilefs {

// How much of something this process may use.
struct ResourceLimit {
  std::uint64_t amount = 0;
  std::string from;  // the file of a control group that says so; empty: the machine has no more
};

// The machine's limit, or less if the control group of the process, or one above it, allows less: version 1 and 2
// of cgroups(7), nested, as a container sees them. `root`: the directory in whose proc/ and at whose mount points the
// files lie, for tests.
ResourceLimit memory_limit(const std::string& root = "");  // bytes
ResourceLimit core_limit(const std::string& root = "");    // at least 1

// How many threads compute at the same time.
inline unsigned usable_cores() { return static_cast<unsigned>(core_limit().amount); }

}  // namespace tfilefs
