// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tfile/node.h"

namespace tfilefs {

// Calls `visit` with a value of the type; truth values are bytes.
template <class Visit>
void with_number_type(tfile::Dtype dtype, Visit visit) {
  switch (dtype) {
    case tfile::Dtype::b1:
    case tfile::Dtype::u1:
      return visit(std::uint8_t());
    case tfile::Dtype::i1:
      return visit(std::int8_t());
    case tfile::Dtype::i2:
      return visit(std::int16_t());
    case tfile::Dtype::u2:
      return visit(std::uint16_t());
    case tfile::Dtype::i4:
      return visit(std::int32_t());
    case tfile::Dtype::u4:
      return visit(std::uint32_t());
    case tfile::Dtype::i8:
      return visit(std::int64_t());
    case tfile::Dtype::u8:
      return visit(std::uint64_t());
    case tfile::Dtype::f4:
      return visit(float());
    case tfile::Dtype::f8:
      return visit(double());
  }
}

}  // namespace tfilefs
