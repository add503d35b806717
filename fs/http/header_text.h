// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace tfilefs {

// The characters and dates of the values of HTTP's headers.

// Compares letters of ASCII without their case.
bool equals_without_case(std::string_view, std::string_view);

// Without spaces and tabs at the ends.
std::string_view trimmed(std::string_view);

// The items of a list with commas, trimmed, without empty ones.
std::vector<std::string_view> list_items(std::string_view, char separator = ',');

}  // namespace tfilefs
