// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tfilefs {

// The number of letters to change, add or leave out to turn one word into the other.
std::size_t word_distance(std::string_view a, std::string_view b);

// The name nearest to a word among those that it looks at; of several the first.
class NearestName {
 public:
  // Names that are farther than `farthest` do not count.
  NearestName(std::string_view word, std::size_t farthest) : word_(word), least_(farthest + 1) {}

  void look_at(std::string_view name) { look_at(name, name); }
  // `compared`: what stands for the name, in the spelling of the word.
  void look_at(std::string_view compared, std::string_view name);

  const std::string& found() const { return found_; }  // empty: none is so near

 private:
  const std::string word_;
  std::size_t least_;
  std::string found_;
};

}  // namespace tfilefs
