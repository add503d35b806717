// SPDX-License-Identifier: Apache-2.0
#include "fuzz/answer_body.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tfile::fuzz::answer_body(std::as_bytes(std::span(data, size)));
  return 0;
}
