// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "container/key.h"

namespace tfile {
namespace {

// Names around the length at which a string gets a count of 4 bytes.
TEST(KeyEncode, ReadsBackAndHasTheSizeThatWasSaid) {
  for (const std::size_t length : {0u, 1u, 254u, 255u, 4000u}) {
    for (const bool wide : {false, true}) {
      const std::string name(length, 'n');
      KeyHeader key;
      key.nbytes = 5000;
      key.version = static_cast<std::int16_t>(kKeyVersion + (wide ? kWideVersion : 0));
      key.objlen = 12345;
      key.datime = 0x41CCEB89;
      key.cycle = 3;
      key.seek = wide ? 5'000'000'000 : 500;
      key.seek_pdir = wide ? 4'000'000'000 : 100;
      key.class_name = "TTree";
      key.name = name;
      key.title = "a title";
      key.keylen = static_cast<std::int16_t>(key_size(key));
      Appender out;
      append_key(out, key);
      ASSERT_EQ(out.size(), key_size(key));
      Cursor in(out.span());
      const KeyHeader back = read_key(in);
      ASSERT_FALSE(in.failed());
      EXPECT_EQ(in.position(), out.size());
      EXPECT_TRUE(is_record(back));
      EXPECT_EQ(back.nbytes, key.nbytes);
      EXPECT_EQ(back.version, key.version);
      EXPECT_EQ(back.objlen, key.objlen);
      EXPECT_EQ(back.datime, key.datime);
      EXPECT_EQ(back.keylen, key.keylen);
      EXPECT_EQ(back.cycle, key.cycle);
      EXPECT_EQ(back.seek, key.seek);
      EXPECT_EQ(back.seek_pdir, key.seek_pdir);
      EXPECT_EQ(back.class_name, key.class_name);
      EXPECT_EQ(back.name, key.name);
      EXPECT_EQ(back.title, key.title);
    }
  }
}

}  // namespace
}  // namespace tfile
