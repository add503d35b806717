// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tfile {

// "std::map" of "std::map<int,float>"; a type without arguments as it is.
std::string_view template_name(std::string_view type);

// The arguments of a type, without the spaces around them; nullopt if it has none, or its brackets do not match.
std::optional<std::vector<std::string>> template_arguments(std::string_view type);

// The arguments if it is that template: "std::variant".
std::optional<std::vector<std::string>> arguments_of(std::string_view name, std::string_view type);

}  // namespace tfile
