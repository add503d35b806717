// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

#include "vfs/nodes/attributes.h"

namespace tfilefs {

// A name as clients are told of it.
struct ServedItem {
  std::string name;
  mode_t mode = 0;                    // at least the type
  std::optional<std::uint64_t> size;  // of a file, if it is known
  std::optional<std::time_t> modified;
  bool is_directory() const { return S_ISDIR(mode); }
};

// `is_complete`: the attributes are not the type alone.
ServedItem served_item(std::string name, const Attributes&, bool is_complete);

// The type of the bytes of a file, by its name, as the header "Content-Type" has it.
std::string content_type(std::string_view name);

}  // namespace tfilefs
