// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tfile {

// Not installed.

// Text as a part of a URL: all but letters, digits, "-._~" and what is in `also_plain` becomes %XX. Pure.
std::string percent_encoded(std::string_view text, std::string_view also_plain = {});

// And back. Nothing where a '%' stands without two digits behind it. Pure.
std::optional<std::string> percent_decoded(std::string_view);

// The same for what servers and users write: such a '%' stays. Pure.
std::string percent_decoded_parts(std::string_view);

}  // namespace tfile
