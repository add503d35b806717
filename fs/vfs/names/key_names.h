// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tfile/file.h"

namespace tfilefs {

// The names of the keys of a directory in the mount.
struct KeyNames {
  // An older cycle: `key` has the name of the key `newest`.
  struct OlderCycle {
    std::uint32_t newest, key;
    friend bool operator<(const OlderCycle& a, const OlderCycle& b) { return a.newest < b.newest; }
  };
  std::vector<std::uint32_t> newest;  // keys that have the bare name, in file order
  std::vector<OlderCycle> older;      // sorted
  std::vector<std::string> shown;     // by key; empty for older cycles
};
KeyNames names_of_keys(std::span<const tfile::KeyInfo> keys);

}  // namespace tfilefs
