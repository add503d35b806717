// SPDX-License-Identifier: Apache-2.0
#include "container/header.h"

#include <gtest/gtest.h>

#include "format/container/file_image.h"

namespace tfile {
namespace {

test::Bytes header_bytes(bool big) {
  test::Bytes out;
  out.put_text("root");
  out.put(std::int32_t{big ? 1064000 : 30300});
  out.put(std::int32_t{64});
  const auto address = [&](std::int64_t value) {
    if (big) {
      out.put(value);
    } else {
      out.put(static_cast<std::int32_t>(value));
    }
  };
  address(big ? 5'000'000'000 : 5000);
  address(4000);
  out.put(std::int32_t{81});
  out.put(std::int32_t{2});
  out.put(std::int32_t{110});
  out.put(std::uint8_t{4});  // also in files of the big form: readers must not rely on it
  out.put(std::int32_t{505});
  address(3000);
  out.put(std::int32_t{999});
  out.put(std::uint16_t{1});
  for (std::uint8_t i = 0; i < 16; ++i) out.put(i);
  return out;
}

TEST(Header, BothForms) {
  for (const bool big : {false, true}) {
    const auto header = read_header(header_bytes(big).all());
    ASSERT_TRUE(header);
    EXPECT_EQ(header->big, big);
    EXPECT_EQ(header->begin, 64);
    EXPECT_EQ(header->end, big ? 5'000'000'000 : 5000);
    EXPECT_EQ(header->seek_free, 4000);
    EXPECT_EQ(header->nbytes_free, 81);
    EXPECT_EQ(header->nfree, 2);
    EXPECT_EQ(header->nbytes_name, 110);
    EXPECT_EQ(header->units, 4);
    EXPECT_EQ(header->compress, 505);
    EXPECT_EQ(header->seek_info, 3000);
    EXPECT_EQ(header->nbytes_info, 999);
    EXPECT_EQ(header->uuid_version, 1);
    EXPECT_EQ(header->uuid[15], 15);
  }
}

TEST(Header, AnotherFileIsCalledWhatItIs) {
  const auto told = [](std::string_view text) {
    const auto header = read_header(std::as_bytes(std::span(text)));
    return header ? "" : header.error().text;
  };
  EXPECT_EQ(told(""), "not a ROOT file: it is empty");
  EXPECT_EQ(told("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"),
            "not a ROOT file: it is a pointer of git-lfs: run git lfs pull to get the file");
  EXPECT_EQ(told("\n<!DOCTYPE HTML><title>Sign in</title>\n<body>"),
            "not a ROOT file: it is an HTML page: \"<!DOCTYPE HTML><title>Sign in</title>\"");
  EXPECT_EQ(told("a note\r\nmore"), "not a ROOT file: it is a text file: \"a note\"");
  EXPECT_EQ(told(std::string(59, 'a') + "\xc3\xbc" + "b"),
            "not a ROOT file: it is a text file: \"" + std::string(59, 'a') + "...\"");
  EXPECT_EQ(told("\x1f\x8b\x08"), "not a ROOT file: it is a gzip file");
}

TEST(Header, ShortOrStrangeIsRefused) {
  for (const bool big : {false, true}) {
    const auto whole = header_bytes(big).all();
    const std::size_t needed = whole.size() - 18;  // the UUID may be missing
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      EXPECT_EQ(read_header(std::span(whole).first(size)).has_value(), size >= needed) << size;
    }
  }
  EXPECT_EQ(read_header(std::as_bytes(std::span("PK\3\4 something else"))).error().kind, ErrorKind::damaged);
  auto negative = header_bytes(false);
  negative.patch(12, std::int32_t{-1});
  EXPECT_FALSE(read_header(negative.all()));
}

}  // namespace
}  // namespace tfile
