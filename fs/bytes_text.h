// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tfilefs {

// "1.2 GB", in powers of 1,000. Pure.
std::string bytes_text(double bytes);

}  // namespace tfilefs
