// SPDX-License-Identifier: Apache-2.0
#include "summary/value_counts.h"

#include <cmath>

namespace tfilefs {
namespace {

// The numbers of a place: the one nearest to 0, and how far the others reach beyond it.
struct PlaceEnds {
  double nearest = 0, width = 0;
};

PlaceEnds place_ends(std::uint64_t place, std::uint64_t like_bits) {
  const std::uint64_t sign = std::uint64_t{1} << 63, first = place << like_bits;
  const bool is_below = (first & sign) == 0;
  const std::uint64_t like = (std::uint64_t{1} << like_bits) - 1;
  const std::uint64_t bits = is_below ? ~(first | like) : first & ~sign;
  const auto nearest = std::bit_cast<double>(bits), farthest = std::bit_cast<double>(bits | like);
  return {nearest, farthest - nearest};
}

}  // namespace

double ValueCounts::at(double rank) const {
  double before = 0;
  PlaceEnds ends;
  for (std::uint64_t row = 0; row < kRows; ++row) {
    if (!rows_[row]) continue;
    for (std::uint64_t i = 0; i < kRowSize; ++i) {
      const auto here = static_cast<double>((*rows_[row])[i]);
      if (here == 0) continue;
      ends = place_ends(row * kRowSize + i, kLikeBits);
      if (rank < before + here) {
        if (std::abs(ends.width) < 1 && ends.nearest == std::trunc(ends.nearest)) return ends.nearest;
        const double part = (rank - before + 0.5) / here;
        return ends.nearest + ends.width * (ends.nearest < 0 || ends.width < 0 ? 1 - part : part);
      }
      before += here;
    }
  }
  return ends.nearest + ends.width;
}

}  // namespace tfilefs
