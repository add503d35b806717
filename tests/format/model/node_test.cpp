// SPDX-License-Identifier: Apache-2.0
#include "tfile/node.h"

#include <gtest/gtest.h>

namespace tfile {
namespace {

TEST(TypedName, GoesBothWays) {
  for (const Dtype dtype : {Dtype::b1, Dtype::i1, Dtype::u1, Dtype::i2, Dtype::u2, Dtype::i4, Dtype::u4, Dtype::i8,
                            Dtype::u8, Dtype::f4, Dtype::f8}) {
    for (const auto& shape : std::vector<std::vector<std::uint32_t>>{{}, {3}, {5, 5}, {0}, {4294967295u}}) {
      const auto parsed = parse_typed_name("a.b" + typed_suffix(dtype, shape));
      ASSERT_TRUE(parsed);
      EXPECT_EQ(parsed->stem, "a.b");
      EXPECT_EQ(parsed->dtype, dtype);
      EXPECT_EQ(parsed->shape, shape);
    }
  }
  EXPECT_EQ(typed_suffix(Dtype::f8, {5, 6}), ".f8x5x6");
}

TEST(TypedName, NothingElseIsOne) {
  for (const char* name : {"", "px", "px.", "px.f", "px.f3", "px.f4x", "px.f4x3x", "px.f4 ", "px.f4x+3", "px.f4x03",
                           "px.f4y3", "px.F4", ".f4", "px.f4x4294967296", "px.npy", "px.f4.npy", "px.f4x-1"}) {
    EXPECT_FALSE(parse_typed_name(name)) << name;
  }
}

TEST(Dtype, NamesAndSizes) {
  EXPECT_EQ(numpy_dtype(Dtype::f4), "<f4");
  EXPECT_EQ(numpy_dtype(Dtype::b1), "|b1");
  EXPECT_EQ(numpy_dtype(Dtype::i1), "|i1");
  EXPECT_EQ(size_of(Dtype::u2), 2u);
  EXPECT_EQ(size_of(Dtype::f8), 8u);
  EXPECT_EQ(role_name(Role::offsets), "offsets");
  EXPECT_EQ(role_name(Role::raw), "raw");
  Column column;
  column.dtype = Dtype::f8;
  column.shape = {2, 3};
  EXPECT_EQ(column.item_size(), 48u);
}

}  // namespace
}  // namespace tfile
