// SPDX-License-Identifier: Apache-2.0
#include "fuzz/expression_body.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfile::fuzz::expression_body({reinterpret_cast<const char*>(data), size});
  return 0;
}
