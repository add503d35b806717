// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tfilefs {

// The list of names in a message, which tells the first of many: "a, b and 3 more".
class ToldNames {
 public:
  explicit ToldNames(std::size_t most) : most_(most) {}

  void add(std::string_view name) {
    if (++size_ > most_) return;
    if (size_ > 1) text_ += ", ";
    text_ += name;
  }
  std::size_t size() const { return size_; }  // of all, told or not
  std::string text() const { return size_ > most_ ? text_ + " and " + std::to_string(size_ - most_) + " more" : text_; }

 private:
  const std::size_t most_;
  std::size_t size_ = 0;
  std::string text_;
};

}  // namespace tfilefs
