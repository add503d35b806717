// SPDX-License-Identifier: Apache-2.0
#include "container/directory.h"

#include <gtest/gtest.h>

#include "container/key.h"
#include "format/container/file_image.h"

namespace tfile {
namespace {

using test::FileImage;
using test::in_memory;

DirectoryRecord record_of(const FileImage& image, const Source& source) {
  auto record = read_directory_record(source, image.root.record);
  EXPECT_TRUE(record);
  return record ? *record : DirectoryRecord{};
}

TEST(Directory, RecordsOfAllVersions) {
  for (const std::int16_t version : std::vector<std::int16_t>{1, 2, 3, 4, 5}) {
    for (const bool big : {false, true}) {
      FileImage image({.big_keys = big, .directory_version = version});
      image.add_object(image.root, "TNamed", "n", "content");
      const auto source = in_memory(image.finish());
      const DirectoryRecord record = record_of(image, *source);
      EXPECT_EQ(record.version, version + (big ? 1000 : 0));
      EXPECT_EQ(record.seek_dir, 100);
      EXPECT_EQ(record.seek_parent, 0);
      EXPECT_EQ(record.created, 0x41CCEB89u);
      EXPECT_EQ(record.modified, 0x41CCEBBAu);
      EXPECT_EQ(record.nbytes_name, image.nbytes_name());
      const auto listing = read_key_list(*source, record);
      ASSERT_TRUE(listing);
      ASSERT_EQ(listing->keys.size(), 1u);
      EXPECT_EQ(listing->keys[0].name, "n");
      EXPECT_EQ(listing->keys[0].title, "title of n");
      EXPECT_EQ(listing->keys[0].class_name, "TNamed");
      EXPECT_EQ(listing->keys[0].cycle, 1);
    }
  }
}

TEST(Directory, NoListIsNoKeys) {
  const auto listing = read_key_list(*in_memory(std::vector<std::byte>(100)), DirectoryRecord{});
  ASSERT_TRUE(listing);
  EXPECT_TRUE(listing->keys.empty());
}

TEST(Directory, ListOutsideTheFileIsDamage) {
  const auto source = in_memory(std::vector<std::byte>(1000));
  for (const std::int64_t seek :
       {std::int64_t{-1}, std::int64_t{999}, std::int64_t{1000}, std::int64_t{1} << 62, INT64_MIN}) {
    for (const std::int32_t size : {2, 1 << 30, -1, INT32_MIN}) {
      DirectoryRecord record;
      record.seek_keys = seek;
      record.nbytes_keys = size;
      const auto listing = read_key_list(*source, record);
      ASSERT_FALSE(listing);
      EXPECT_EQ(listing.error().kind, ErrorKind::damaged);
    }
  }
}

TEST(Directory, AMillionKeysAreReadOnce) {
  FileImage image;
  for (int i = 0; i < 1'000'000; ++i) {
    image.root.keys.push_back(
        {"TH1D", "histogram_" + std::to_string(i), "a title of some length", 1, 5000, 100, 900, 800, 80});
  }
  const auto source = in_memory(image.finish());
  const DirectoryRecord record = record_of(image, *source);
  const std::uint64_t before = source->bytes_read();
  const auto listing = read_key_list(*source, record);
  ASSERT_TRUE(listing);
  ASSERT_EQ(listing->keys.size(), 1'000'000u);
  EXPECT_EQ(listing->keys[999'999].name, "histogram_999999");
  EXPECT_EQ(listing->keys[500'000].name, "histogram_500000");
  EXPECT_EQ(listing->keys[500'000].title, "a title of some length");
  const std::uint64_t list_size = static_cast<std::uint64_t>(record.nbytes_keys);
  EXPECT_LT(source->bytes_read() - before, list_size + list_size / 20);
}

TEST(Directory, AClaimedCountCostsOnlyWhatIsThere) {
  FileImage image;
  image.add_object(image.root, "TNamed", "a", "x");
  image.add_object(image.root, "TNamed", "b", "x");
  const auto list = image.finish_directory(image.root);
  image.bytes().patch(static_cast<std::size_t>(list.seek + list.keylen), std::int32_t{INT32_MAX});
  const auto source = in_memory(image.finish_without_root_list());
  const auto listing = read_key_list(*source, record_of(image, *source));
  ASSERT_TRUE(listing);
  EXPECT_EQ(listing->keys.size(), 2u);
  ASSERT_EQ(listing->warnings.size(), 1u);
  image.bytes().patch(static_cast<std::size_t>(list.seek + list.keylen), std::int32_t{-1});
  const auto negative = in_memory(image.finish_without_root_list());
  EXPECT_FALSE(read_key_list(*negative, record_of(image, *negative)));
}

TEST(Directory, AKeyThatOverrunsTheListEndsIt) {
  FileImage image;
  for (const char* name : {"a", "b", "c"}) image.add_object(image.root, "TNamed", name, "x");
  const auto list = image.finish_directory(image.root);
  // The length of the second key's class name.
  const std::size_t second =
      static_cast<std::size_t>(list.seek + list.keylen) + 4 + static_cast<std::size_t>(image.root.keys[0].keylen);
  for (const std::uint8_t length : std::vector<std::uint8_t>{254, 255}) {
    image.bytes().patch(second + kKeyFixedSize + 8, length);
    const auto source = in_memory(image.finish_without_root_list());
    const auto listing = read_key_list(*source, record_of(image, *source));
    ASSERT_TRUE(listing);
    EXPECT_EQ(listing->keys.size(), 1u);
    EXPECT_EQ(listing->warnings.size(), 1u);
  }
}

}  // namespace
}  // namespace tfile
