// SPDX-License-Identifier: Apache-2.0
#include "container/key.h"

#include <gtest/gtest.h>

#include "format/container/file_image.h"

namespace tfile {
namespace {

test::Bytes key_bytes(std::int16_t version, std::int64_t pdir, const std::string& title) {
  test::Bytes out;
  out.put(std::int32_t{900});
  out.put(version);
  out.put(std::int32_t{4096});
  out.put(std::uint32_t{0x41CCEB89});
  out.put(std::int16_t{500});
  out.put(std::int16_t{7});
  if (version > 1000) {
    out.put(std::int64_t{3'000'000'000});
    out.put(pdir);
  } else {
    out.put(std::int32_t{2'000'000});
    out.put(static_cast<std::int32_t>(pdir));
  }
  out.put_string("TBasket");
  out.put_string("");
  out.put_string(title);
  return out;
}

TEST(Key, BothFormsOfAllVersions) {
  for (const std::int16_t version : std::vector<std::int16_t>{2, 3, 4, 1002, 1003, 1004}) {
    for (const std::string& title :
         {std::string("t"), std::string(254, 'x'), std::string(255, 'y'), std::string(1000, 'z')}) {
      const auto bytes = key_bytes(version, 100, title);
      Cursor in(bytes.all());
      const KeyHeader key = read_key(in);
      ASSERT_FALSE(in.failed());
      EXPECT_EQ(in.left(), 0u);
      EXPECT_EQ(key.version, version);
      EXPECT_EQ(key.nbytes, 900);
      EXPECT_EQ(key.objlen, 4096);
      EXPECT_EQ(key.datime, 0x41CCEB89u);
      EXPECT_EQ(key.keylen, 500);
      EXPECT_EQ(key.cycle, 7);
      EXPECT_EQ(key.seek, version > 1000 ? 3'000'000'000 : 2'000'000);
      EXPECT_EQ(key.seek_pdir, 100);
      EXPECT_EQ(key.class_name, "TBasket");
      EXPECT_EQ(key.name, "");
      EXPECT_EQ(key.title, title);
      EXPECT_EQ(is_record(key), title.size() < 500 - 60) << title.size();
    }
  }
}

TEST(Key, ProcessIdOffsetIsNoAddress) {
  const auto bytes = key_bytes(1004, (std::int64_t{3} << 48) | 100, "t");
  Cursor in(bytes.all());
  EXPECT_EQ(read_key(in).seek_pdir, 100);
}

TEST(Key, CutShortFailsTheCursor) {
  const auto bytes = key_bytes(4, 100, "title");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Cursor in(std::span(bytes.all()).first(size));
    read_key(in);
    EXPECT_TRUE(in.failed()) << size;
  }
}

TEST(Key, SizesThatContradictAreNoRecord) {
  KeyHeader key{100, 4, 10, 0, 40, 1, 0, 0, "TNamed", "n", ""};
  EXPECT_TRUE(is_record(key));
  for (const std::int32_t nbytes : {0, -100, 39}) {
    KeyHeader other = key;
    other.nbytes = nbytes;
    EXPECT_FALSE(is_record(other)) << nbytes;
  }
  for (const std::int16_t keylen : std::vector<std::int16_t>{0, -1, 33}) {
    KeyHeader other = key;
    other.keylen = keylen;
    EXPECT_FALSE(is_record(other)) << keylen;
  }
  key.objlen = -1;
  EXPECT_FALSE(is_record(key));
}

}  // namespace
}  // namespace tfile
