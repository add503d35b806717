// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "streamer/info/streamer_info.h"

namespace tfile {

// What the code of a streamer element says of its bytes, for whoever reads by descriptions.
struct ElementForm {
  enum class Kind : std::uint8_t {
    base,
    collection,  // of C++, or std::string
    c_string,    // length i4
    number,      // of the basic type `basic`
    counted,     // `T* p; //[n]` of the basic type `basic`
    loop,        // the same of objects
    tstring,
    tobject,
    tnamed,
    object,  // in place
    pointer,
    by_name,  // whatever the type's name says
    unknown,
  };
  Kind kind = Kind::unknown;
  bool is_array = false;  // of fixed length: number to by_name
  int basic = 0;
  // Arrays of these have one header of the StreamerInfo around all items; arrays of other classes have none.
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
const ElementClass& element_class(std::string_view name);  // that of `unknown` for further names

}  // namespace tfile
