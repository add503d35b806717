// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tfilefs {

// The width of a line of UTF-8 in Arial and fonts with its metrics (Helvetica, Liberation Sans), in ems. Characters
// outside of ASCII and Greek count with an average width, bytes that are not UTF-8 as one character each.
double text_width(std::string_view text);

}  // namespace tfilefs
