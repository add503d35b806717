// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tfile/node.h"

namespace tfile {

// The result of `visit` with a value of the type. Truth values are bytes, unless they are to be something else. Not
// installed.
template <class Truth = std::uint8_t, class Visit>
auto with_number_type(Dtype dtype, Visit visit) -> decltype(visit(double())) {
  switch (dtype) {
    case Dtype::b1:
      return visit(Truth());
    case Dtype::i1:
      return visit(std::int8_t());
    case Dtype::u1:
      return visit(std::uint8_t());
    case Dtype::i2:
      return visit(std::int16_t());
    case Dtype::u2:
      return visit(std::uint16_t());
    case Dtype::i4:
      return visit(std::int32_t());
    case Dtype::u4:
      return visit(std::uint32_t());
    case Dtype::i8:
      return visit(std::int64_t());
    case Dtype::u8:
      return visit(std::uint64_t());
    case Dtype::f4:
      return visit(float());
    case Dtype::f8:
      break;
  }
  return visit(double());
}

}  // namespace tfile
