// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/node.h"

namespace tfile {

// A parsed C++ type in ROOT's spelling ("vector<pair<int,float> >").
struct TypeName {
  enum class Kind : std::uint8_t {
    number,    // dtype
    double32,  // Double32_t: f8 in memory, f4 or packed on disk
    float16,   // Float16_t: f4 in memory, packed on disk
    std_string,
    tstring,
    sequence,     // vector, list, deque, set, multiset, unordered_*, forward_list, RVec: arguments[0] is the item
    map,          // map, multimap, unordered_*: arguments are key and value
    pair,         // arguments[0], arguments[1]
    bitset,       // length bits
    array,        // std::array: arguments[0], length
    pointer,      // T*, unique_ptr, shared_ptr: arguments[0]
    named_class,  // anything else; `text` is its name
  };
  Kind kind = Kind::named_class;
  Dtype dtype = Dtype::u1;
  std::uint64_t length = 0;
  std::vector<TypeName> arguments;
  std::string text;  // as given, without std::, const and insignificant blanks
};

// Without the blanks at both ends.
std::string_view trim(std::string_view);

// Any text gives a type: an unknown form becomes named_class, as does nesting deeper than 32.
TypeName parse_type_name(std::string_view text);

}  // namespace tfile
