// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "streamer/info/streamer_info.h"
#include "tfile/node.h"

namespace tfile {

// A basic type: its code in streamer elements, its dtype in memory, and its names.
struct BasicType {
  int code;
  Dtype dtype;
  std::string_view root_name;  // "UInt_t"
  std::string_view cpp_name;   // "unsigned int"
  std::string_view described;  // StreamerInfo's spelling: cpp_name, but root_name where C++ has no name of its own
};

// By ROOT's name; nullptr if it is not a basic type.
const BasicType* basic_type_of_root(std::string_view name);

// The dtype of a number type by any of its names ("unsigned int", "Long64_t", "int8_t"); none for Double32_t and
// Float16_t.
std::optional<Dtype> fundamental_dtype(std::string_view name);

// The dtype of an element type 1..19 that is stored unchanged; nullopt for 0, 7, 9, 10, 15, 19.
std::optional<Dtype> basic_dtype(int element_type);

// The same for a member whose type has a name. Usually, a counter of an unsigned type has the code of that type, but
// some programs write kCounter for it, which is the code of Int_t counters.
std::optional<Dtype> member_dtype(int element_type, std::string_view type_name);

// The size of the number in bytes; 0 if the type is not a number.
std::uint32_t number_size(int element_type);

}  // namespace tfile
