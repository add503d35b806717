// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "array/npy.h"
#include "fs/view/array_table.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using tfile::Role;

struct NumbersRig : TableRig {
  NumbersRig() : TableRig(std::make_shared<ArrayTable>()) {
    table->column<std::int16_t>(0, "n.i2", Role::values, {1, 2, 3, 4, 5, 6, 7});
  }
};

TEST(ColumnContent, IsTheArray) {
  NumbersRig rig;
  const auto content = column_content(rig.streams, rig.table->columns[0], 7);
  EXPECT_EQ(content->size(), 14u);
  EXPECT_EQ(content_bytes(*content, 0, 100), std::string("\1\0\2\0\3\0\4\0\5\0\6\0\7\0", 14));
  EXPECT_EQ(content_bytes(*content, 5, 4), std::string("\0\4\0\5", 4));
  EXPECT_EQ(content_bytes(*content, 14, 4), "");
}

TEST(ColumnContent, APromisedByteThatIsNotThereIsAnError) {
  NumbersRig rig;
  const auto content = column_content(rig.streams, rig.table->columns[0], 9);
  EXPECT_EQ(content_bytes(*content, 0, 14).size(), 14u);
  EXPECT_EQ(content_bytes(*content, 12, 4).substr(0, 6), "error:");
  EXPECT_EQ(content_bytes(*content, 14, 4).substr(0, 6), "error:");
}

TEST(NpyContent, HeaderAndArrayFromAnyOffset) {
  NumbersRig rig;
  const auto content = npy_content(rig.streams, rig.table->columns[0], 7);
  const std::string header = npy_header(tfile::Dtype::i2, {}, 7);
  const std::string all = header + std::string("\1\0\2\0\3\0\4\0\5\0\6\0\7\0", 14);
  ASSERT_EQ(content->size(), all.size());
  for (std::size_t offset = 0; offset <= all.size(); offset += 3)
    for (const std::size_t size : {1u, 10u, 64u, 500u})
      EXPECT_EQ(content_bytes(*content, offset, size), all.substr(offset, size));
}

}  // namespace
}  // namespace tfilefs
