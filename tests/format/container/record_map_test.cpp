// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "container/free_list.h"
#include "container/header.h"
#include "container/record_walk.h"
#include "format/container/file_image.h"

namespace tfile {
namespace {

using test::FileImage;
using test::in_memory;
using Kind = Record::Kind;

std::vector<Record> map_of(const std::vector<std::byte>& bytes, std::int64_t seek_keys = 0) {
  const auto header = read_header(std::span(bytes).first(100));
  EXPECT_TRUE(header);
  auto map = read_record_map(*in_memory(bytes), *header, seek_keys);
  EXPECT_TRUE(map);
  return map ? *std::move(map) : std::vector<Record>();
}

void expect_covers(const std::vector<Record>& map, std::size_t size) {
  std::uint64_t at = 0;
  for (const Record& record : map) {
    EXPECT_EQ(record.begin, at);
    EXPECT_GT(record.size, 0u);
    at = record.begin + record.size;
  }
  EXPECT_EQ(at, size);
}

TEST(RecordMap, TellsRecordsGapsAndTrailingBytes) {
  FileImage image;
  const auto object = image.add_object(image.root, "TNamed", "n", "content");
  image.add_gap(50);
  image.add_gap(30);
  image.add_zeros(300);
  const auto big = image.add_object(image.root, "TH1D", "h", std::string(5000, 'x'), 3);
  auto bytes = image.finish();
  bytes.resize(bytes.size() + 7);
  const auto map = map_of(bytes, big.seek + big.nbytes);
  expect_covers(map, bytes.size());
  ASSERT_EQ(map.size(), 8u);
  EXPECT_EQ(map[0].kind, Kind::header);
  EXPECT_EQ(map[1].class_name, "TFile");
  EXPECT_EQ(map[2].begin, static_cast<std::uint64_t>(object.seek));
  EXPECT_EQ(map[2].class_name, "TNamed");
  EXPECT_EQ(map[2].name, "n");
  EXPECT_EQ(map[2].objlen, 7u);
  EXPECT_EQ(map[3].kind, Kind::gap);
  EXPECT_EQ(map[3].size, 380u) << "neighbouring gaps are one";
  EXPECT_EQ(map[4].cycle, 3);
  EXPECT_EQ(map[5].class_name, "KeysList");
  EXPECT_EQ(map[6].class_name, "FreeSegments");
  EXPECT_EQ(map[7].kind, Kind::trailing);
  EXPECT_EQ(map[7].size, 7u);
}

// uproot frees space without marking it, so the rest of an old record remains there.
TEST(RecordMap, FreeSpaceWithStaleBytesIsSteppedOver) {
  FileImage image;
  const auto stale = image.add_object(image.root, "TNamed", "stale", "content");
  image.root.keys.pop_back();
  image.bytes().patch(static_cast<std::size_t>(stale.seek) + 18, std::int32_t{77});  // moved here from elsewhere
  image.mark_free(static_cast<std::size_t>(stale.seek), static_cast<std::size_t>(stale.nbytes));
  image.add_zeros(5);
  const std::size_t text = image.bytes().size();
  image.bytes().put_text("table of a class and more text");
  image.mark_free(text, image.bytes().size() - text);
  const auto after_crash = image.add_object(image.root, "TNamed", "newer than the list", "content");
  image.mark_free(static_cast<std::size_t>(after_crash.seek), static_cast<std::size_t>(after_crash.nbytes));
  const auto bytes = image.finish();
  const auto map = map_of(bytes);
  expect_covers(map, bytes.size());
  ASSERT_EQ(map.size(), 6u);
  EXPECT_EQ(map[2].kind, Kind::gap);
  EXPECT_EQ(map[2].size, static_cast<std::uint64_t>(stale.nbytes) + 5 + 30);
  EXPECT_EQ(map[3].name, "newer than the list");
}

TEST(RecordMap, StaleBytesInFreeSpaceMayLookLikeTheLengthOfAGap) {
  for (const std::int32_t length : {-184549377, -40, -3}) {
    FileImage image;
    const std::size_t begin = image.bytes().size();
    image.add_zeros(56);
    image.bytes().patch(begin, length);
    image.mark_free(begin, 56);
    image.add_object(image.root, "TNamed", "behind it", "content");
    const auto bytes = image.finish();
    const auto map = map_of(bytes);
    expect_covers(map, bytes.size());
    ASSERT_GE(map.size(), 4u);
    EXPECT_EQ(map[2].kind, Kind::gap);
    EXPECT_EQ(map[2].size, 56u);
    EXPECT_EQ(map[3].name, "behind it");
  }
}

TEST(RecordMap, WhatCannotBeFollowedIsAGap) {
  FileImage image({.with_free_list = false});
  image.add_object(image.root, "TNamed", "n", "content");
  image.add_zeros(300);  // without the list, the size is unknown
  image.add_object(image.root, "TNamed", "m", "content");
  const auto bytes = image.finish();
  const auto map = map_of(bytes);
  expect_covers(map, bytes.size());
  ASSERT_EQ(map.size(), 4u);
  EXPECT_EQ(map[3].kind, Kind::gap);
}

TEST(RecordMap, RecordThatGoesOnBehindTheEndIsCut) {
  FileImage image;
  const auto object = image.add_object(image.root, "TNamed", "n", std::string(1000, 'x'));
  auto bytes = image.finish();
  bytes.resize(static_cast<std::size_t>(object.seek) + 200);
  const auto map = map_of(bytes);
  expect_covers(map, bytes.size());
  EXPECT_EQ(map.back().size, 200u);
}

TEST(RecordMap, LengthsThatLeadNowhereEnd) {
  for (const std::int32_t length : {0, -1, -3, 1, 17, INT32_MAX, INT32_MIN}) {
    FileImage image;
    const auto object = image.add_object(image.root, "TNamed", "n", "content");
    image.bytes().patch(static_cast<std::size_t>(object.seek), length);
    const auto bytes = image.finish();
    expect_covers(map_of(bytes), bytes.size());
  }
}

TEST(FreeSegments, AreSortedAndBounded) {
  FileImage image;
  image.add_zeros(10);
  image.add_object(image.root, "TNamed", "n", "content");
  image.add_zeros(20);
  auto bytes = image.finish();
  auto header = read_header(std::span(bytes).first(100));
  ASSERT_TRUE(header);
  auto segments = read_free_segments(*in_memory(bytes), *header);
  ASSERT_TRUE(segments);
  ASSERT_EQ(segments->size(), 3u);
  EXPECT_EQ((*segments)[0].size, 10u);
  EXPECT_EQ((*segments)[1].size, 20u);
  EXPECT_GT((*segments)[2].end(), bytes.size());
  header->nbytes_free = INT32_MAX;
  EXPECT_FALSE(read_free_segments(*in_memory(bytes), *header));
  header->seek_free = INT64_MAX;
  EXPECT_FALSE(read_free_segments(*in_memory(bytes), *header));
  header->seek_free = 0;
  segments = read_free_segments(*in_memory(bytes), *header);
  ASSERT_TRUE(segments);
  EXPECT_TRUE(segments->empty());
}

}  // namespace
}  // namespace tfile
