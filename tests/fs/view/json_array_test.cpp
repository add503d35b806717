// SPDX-License-Identifier: Apache-2.0
#include "view/json_array.h"

#include <gtest/gtest.h>

#include "waited.h"

namespace tfilefs {
namespace {

std::string read(Content& content, std::uint64_t offset, std::size_t size) {
  const auto slices = waited<Slices>([&](auto reply) { content.read(offset, size, std::move(reply)); });
  std::string bytes(slices->size(), '\0');
  copy_slices(*slices, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

TEST(JsonArray, EachRangeIsThatOfTheWhole) {
  for (const std::string lines : {"", "{\"x\":1}\n", "{\"x\":1}\n,{\"x\":2}\n"}) {
    const auto array = json_array(std::make_shared<FixedContent>(lines));
    const std::string whole = "[" + lines + "]\n";
    ASSERT_EQ(array->size(), whole.size());
    for (std::size_t begin = 0; begin <= whole.size() + 1; ++begin)
      for (std::size_t size = 0; size <= whole.size() + 1; ++size)
        EXPECT_EQ(read(*array, begin, size), begin < whole.size() ? whole.substr(begin, size) : "") << begin;
  }
}

}  // namespace
}  // namespace tfilefs
