// SPDX-License-Identifier: Apache-2.0
#include "word_distance.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace tfilefs {

std::size_t word_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({row[j], row[j + 1], diagonal}) + 1);
      row[j + 1] = std::min(row[j + 1], changed);
    }
  }
  return row.back();
}

void NearestName::look_at(std::string_view compared, std::string_view name) {
  const auto [shorter, longer] = std::minmax({word_.size(), compared.size()});
  if (longer - shorter >= least_) return;  // the comparison takes the product of the lengths
  const std::size_t distance = word_distance(word_, compared);
  if (distance >= least_) return;
  least_ = distance;
  found_ = name;
}

}  // namespace tfilefs
