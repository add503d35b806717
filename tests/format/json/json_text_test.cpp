// SPDX-License-Identifier: Apache-2.0
#include "tfile/json_text.h"

#include <gtest/gtest.h>

namespace tfile {
namespace {

TEST(JsonText, BytesThatAreNotUtf8AreLoneSurrogates) {
  EXPECT_EQ(json_string("a\"\\\n\r\x01"), R"("a\"\\\n\r\u0001")");
  EXPECT_EQ(json_string("\xc3\xa9 \xf0\x9f\x98\x80"), "\"\xc3\xa9 \xf0\x9f\x98\x80\"");
  EXPECT_EQ(json_string("\xff \xc3 \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80"),
            R"("\udcff \udcc3 \udcc0\udc80 \udced\udca0\udc80 \udcf4\udc90\udc80\udc80")");
}

TEST(JsonText, ReadableBytesLeaveTheRestAlone) {
  EXPECT_EQ(with_readable_bytes(R"(["a\udc80b", "\\udc80", "\u00e9\"\\"])"), R"(["a\\x80b", "\\udc80", "\u00e9\"\\"])");
}

}  // namespace
}  // namespace tfile
