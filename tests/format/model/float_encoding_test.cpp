// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tfile/writer.h"

namespace tfile {
namespace {

using Kind = FloatEncoding::Kind;

TEST(FloatEncoding, IsParsed) {
  EXPECT_EQ(parse_float_encoding("").value(), FloatEncoding());
  EXPECT_EQ(parse_float_encoding("real16").value(), (FloatEncoding{Kind::half, 16, 0, 0}));
  EXPECT_EQ(parse_float_encoding("real32trunc:31").value(), (FloatEncoding{Kind::truncated, 31, 0, 0}));
  EXPECT_EQ(parse_float_encoding("real32quant:12:0:100").value(), (FloatEncoding{Kind::quantized, 12, 0, 100}));
  EXPECT_EQ(parse_float_encoding("real32quant:32:-1.5:2e3").value(), (FloatEncoding{Kind::quantized, 32, -1.5, 2000}));
}

TEST(FloatEncoding, IsRefusedWithWhatIsAllowed) {
  for (const char* text :
       {"real", "real16:16", "real32trunc", "real32trunc:9", "real32trunc:32", "real32trunc:1 6", "real32quant:12",
        "real32quant:0:0:1", "real32quant:33:0:1", "real32quant:12:1:1", "real32quant:12:2:1", "real32quant:12:0:inf",
        "real32quant:12:nan:1", "real32quant:12:0:1:2", ":", "real32quant:70000:0:1"}) {
    const auto parsed = parse_float_encoding(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::invalid);
    EXPECT_NE(parsed.error().text.find("real32trunc:BITS"), std::string::npos);
  }
}

}  // namespace
}  // namespace tfile
