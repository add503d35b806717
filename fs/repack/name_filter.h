// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reply.h"

namespace tfilefs {

// Takes names that match one of the patterns, or any if there are none, and that match none of those
// to drop. Patterns are those of vfs/names/path_pattern.h, without slashes: "Muon_*", "n{Muon,Jet}".
class NameFilter {
 public:
  // Lists of patterns, separated by commas outside of braces. Error: invalid.
  static Result<NameFilter> parse(const std::vector<std::string>& taken, const std::vector<std::string>& dropped);

  bool takes(const std::string& name) const;
  bool takes_all() const { return taken_.empty() && dropped_.empty(); }
  // Patterns to be taken or dropped that match none of these names.
  std::vector<std::string> idle(std::span<const std::string> names) const;

 private:
  std::vector<std::string> taken_, dropped_;  // without braces
};

// For the message about a pattern that matches none of these names: ", did you mean NAME?" if one matches it but for
// capital letters, or is as long but for some, else the first of the names.
std::string meant_name(const std::string& pattern, std::span<const std::string> names);

}  // namespace tfilefs
