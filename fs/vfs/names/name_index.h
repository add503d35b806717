// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tfilefs {

std::uint64_t hash_of_name(std::string_view name);

// Finds numbers by name. It takes 8 bytes per name; the names themselves stay where they are (`name_of(i)` returns
// them). Of equal names the one added first is found.
class NameIndex {
 public:
  explicit NameIndex(std::size_t names_max = 0) {
    std::size_t size = 2;
    while (size < 2 * names_max) size *= 2;
    slots_.assign(size, kFree);
  }
  std::uint64_t memory() const { return slots_.capacity() * sizeof slots_[0]; }

  // Adds number `i`, unless its name is there already. Returns the number found under the name, else `i`.
  template <class NameOf>
  std::uint32_t add(std::uint32_t i, NameOf&& name_of) {
    const std::string_view name = name_of(i);
    std::size_t at = hash_of_name(name);
    for (;; ++at) {
      std::uint32_t& held = slots_[at & (slots_.size() - 1)];
      if (held == kFree) return held = i;
      if (name_of(held) == name) return held;
    }
  }

  template <class NameOf>
  std::optional<std::uint32_t> find(std::string_view name, NameOf&& name_of) const {
    for (std::size_t at = hash_of_name(name);; ++at) {
      const std::uint32_t held = slots_[at & (slots_.size() - 1)];
      if (held == kFree) return std::nullopt;
      if (name_of(held) == name) return held;
    }
  }

 private:
  static constexpr std::uint32_t kFree = 0xffffffff;
  std::vector<std::uint32_t> slots_;  // at most half full, so that searches are short
};

}  // namespace tfilefs
