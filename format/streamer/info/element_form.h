// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "streamer/info/streamer_info.h"

namespace tfile {

// The form of an element's bytes according to its code, for all code that reads by descriptions.
struct ElementForm {
  enum class Kind : std::uint8_t {
    base,
    collection,  // of C++, or std::string
    c_string,    // length i4
    number,      // of the basic type `basic`
    counted,     // `T* p; //[n]` of the basic type `basic`
    loop,        // the same with objects
    tstring,
    tobject,
    tnamed,
    object,  // in place
    pointer,
    by_name,  // decided by the type's name
    unknown,
  };
  Kind kind = Kind::unknown;
  bool is_array = false;  // of fixed length; for kinds number to by_name
  int basic = 0;
  // For these kinds, StreamerInfo puts one header around all items of an array; arrays of other classes have none.
  bool has_frame_around() const { return is_array && kind >= Kind::tstring && kind <= Kind::tnamed; }
};

ElementForm form_of(const StreamerElement&);

// The class of an element's own record, in the version that is written.
struct ElementClass {
  ElementKind kind;
  std::string_view name;
  std::uint16_t version;
};
const ElementClass& element_class(ElementKind);
const ElementClass& element_class(std::string_view name);  // that of `unknown` for other names

}  // namespace tfile
