// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tfilefs {

// The colours of viridis from 0 to 1, "#rrggbb": even steps of lightness, for everybody's eyes and printers.
std::string viridis(double part);

}  // namespace tfilefs
