// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "query/draw.h"

namespace tfilefs {

// The text of a drawing, as users write it. Errors: invalid, "TEXT: expected ...".

// "N[,N]": of x, y, z. "": as without.
Result<> take_bins(const std::string&, DrawRequest&);
// "LO:HI[,LO:HI]": an empty part is a range that is found.
Result<> take_ranges(const std::string&, DrawRequest&);

// "EXPR[;CUT[;BINS[;RANGES[;profile]]]]"; parts may be empty.
Result<DrawRequest> parse_drawing(std::string_view);

}  // namespace tfilefs
