// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "plot/plot_scale.h"
#include "plot/svg_drawing.h"

namespace tfilefs {

std::string viridis(double part) {
  static constexpr std::array<std::array<double, 3>, 9> kStops = {{{68, 1, 84},
                                                                   {71, 44, 122},
                                                                   {59, 81, 139},
                                                                   {44, 113, 142},
                                                                   {33, 144, 141},
                                                                   {39, 173, 129},
                                                                   {92, 200, 99},
                                                                   {170, 220, 50},
                                                                   {253, 231, 37}}};
  const double place = std::clamp(part, 0.0, 1.0) * (kStops.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
  std::uint32_t rgb = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const double mixed = kStops[i][c] + (kStops[i + 1][c] - kStops[i][c]) * (place - static_cast<double>(i));
    rgb = rgb << 8 | static_cast<std::uint32_t>(std::lround(mixed));
  }
  return colour_text(rgb);
}

}  // namespace tfilefs
