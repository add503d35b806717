// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tfilefs {

// How wide a line of UTF-8 is in Arial and the fonts made to its measures (Helvetica, Liberation Sans), in ems. Of
// characters outside of ASCII and Greek an average; bytes that are no UTF-8 count as one character each.
double text_width(std::string_view text);

}  // namespace tfilefs
