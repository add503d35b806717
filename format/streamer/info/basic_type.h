// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "streamer/info/streamer_info.h"
#include "tfile/node.h"

namespace tfile {

// A basic type: its code in streamer elements, what it is in memory, and its names.
struct BasicType {
  int code;
  Dtype dtype;
  std::string_view root_name;  // "UInt_t"
  std::string_view cpp_name;   // "unsigned int"
  std::string_view described;  // as StreamerInfo spells it: cpp_name, but for types that C++ has no own name of
};

// By the name that ROOT gave it; nullptr where it is none.
const BasicType* basic_type_of_root(std::string_view name);

// The number that a name in any spelling stands for ("unsigned int", "Long64_t", "int8_t"); none for Double32_t and
// Float16_t.
std::optional<Dtype> fundamental_dtype(std::string_view name);

// The dtype of an element type 1..19 that is stored as it is; nothing for 0, 7, 9, 10, 15, 19.
std::optional<Dtype> basic_dtype(int element_type);

// The same of a member whose type has a name. A counter of an unsigned type has the code of that type, except where a
// program wrote the code that all counters of type Int_t have.
std::optional<Dtype> member_dtype(int element_type, std::string_view type_name);

// Its bytes; 0 for what is none.
std::uint32_t number_size(int element_type);

}  // namespace tfile
