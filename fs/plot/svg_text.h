// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tfilefs {

// A number in fixed notation with at most two decimals, which is finer than a screen; 0 for numbers that are not
// finite.
void append_number(std::string& to, double value);

// ` name="value"`
void append_attribute(std::string& to, std::string_view name, double value);

}  // namespace tfilefs
