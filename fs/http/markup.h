// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tfilefs {

// Text that stands in HTML, between tags and in attributes with quotes, as it is.
std::string html_escaped(std::string_view);

}  // namespace tfilefs
