// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "format/tree/basket_image.h"

namespace tfile::test {

// A basket as stored in a tree's record; `tail` of the image has the offsets.
inline std::vector<std::byte> embedded(const BasketImage& image, const std::vector<std::int32_t>& displacement = {}) {
  Bytes out;
  image.put_header(out, 0, 0);
  for (const auto* array : {&image.tail, &displacement}) {
    if (array->empty()) continue;
    out.put(static_cast<std::int32_t>(array->size()));
    for (const std::int32_t word : *array) out.put(word);
  }
  if (image.version == 1) out.put(image.keylen() + image.border());
  out.patch_space(static_cast<std::size_t>(image.keylen()));  // in real files a copy of the header
  out.all().insert(out.all().end(), image.data.begin(), image.data.end());
  return out.all();
}

}  // namespace tfile::test
