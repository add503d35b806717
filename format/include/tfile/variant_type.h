// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <span>
#include <string>
#include <string_view>

namespace tfile {

// The columns of a variant in its directory.
inline constexpr std::string_view kTagsName = "tags.i1", kIndexName = "index.i8";

// ROOT's name for a variant of these types: "std::variant<A,B>".
std::string variant_type(std::span<const std::string> alternatives);

}  // namespace tfile
