// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tfile {

// Marks the members of a record that are shown with their first byte escaped (member_component), since it would else be
// taken for a list, a text or a variant: `offsets.i8`; `values`, `chars.u1` or `raw.u1` without others; `tags.i1` and
// `index.i8` together. `suffixes`: empty for directories.
std::vector<bool> escaped_members(std::span<const std::string_view> names, std::span<const std::string> suffixes);

// The path of a column with the names of members as they are when nothing makes it necessary to escape them.
std::string without_escaped_members(std::string_view path);

}  // namespace tfile
