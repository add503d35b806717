// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tfilefs {

// The colours of viridis from 0 to 1, "#rrggbb": even steps of lightness, also for colour-blind readers and on paper.
std::string viridis(double part);

}  // namespace tfilefs
