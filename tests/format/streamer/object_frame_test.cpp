// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/object_frame.h"

#include <gtest/gtest.h>

#include "format/streamer/object_image.h"

namespace tfile {
namespace {

using test::ObjectImage;

TEST(ObjectFrame, WithByteCount) {
  ObjectImage image;
  const std::size_t at = image.open(13);
  image.put(std::uint32_t{42});
  image.close(at);
  image.put(std::uint8_t{9});
  Cursor in(image.all());
  const Frame frame = read_frame(in);
  EXPECT_EQ(frame.version, 13);
  EXPECT_TRUE(frame.counted);
  EXPECT_FALSE(frame.member_wise);
  EXPECT_EQ(frame.end, 10u);
  leave_frame(in, frame);
  EXPECT_EQ(in.u1("next"), 9);
  EXPECT_FALSE(in.failed());
}

TEST(ObjectFrame, WithoutByteCount) {
  ObjectImage image;
  image.put(std::uint16_t{2});
  Cursor in(image.all());
  const Frame frame = read_frame(in);
  EXPECT_EQ(frame.version, 2);
  EXPECT_FALSE(frame.counted);
  leave_frame(in, frame);
  EXPECT_EQ(in.position(), 2u);
}

TEST(ObjectFrame, ChecksumInsteadOfVersion) {
  ObjectImage image;
  const std::size_t at = image.open(0);
  image.put(std::uint32_t{0x1aa12f10});
  image.put(std::uint8_t{1});
  image.close(at);
  Cursor in(image.all());
  const Frame frame = read_frame(in);
  EXPECT_EQ(frame.version, 0);
  EXPECT_EQ(frame.checksum, 0x1aa12f10u);
  EXPECT_EQ(in.u1("bits"), 1);
}

TEST(ObjectFrame, MemberWiseBitIsNoVersion) {
  ObjectImage image;
  const std::size_t at = image.open(0x4009);
  image.close(at);
  Cursor in(image.all());
  const Frame frame = read_frame(in);
  EXPECT_TRUE(frame.member_wise);
  EXPECT_EQ(frame.version, 9);
}

TEST(ObjectFrame, CountBeyondTheEndFails) {
  ObjectImage image;
  const std::size_t at = image.open(1);
  image.close(at);
  image.patch(at, std::uint32_t{0x40000000 | 3});
  Cursor in(image.all());
  read_frame(in);
  EXPECT_TRUE(in.failed());
}

TEST(ObjectFrame, CountTooShortForTheVersionFails) {
  ObjectImage image;
  const std::size_t at = image.open(1);
  image.patch(at, std::uint32_t{0x40000000 | 1});
  Cursor in(image.all());
  read_frame(in);
  EXPECT_TRUE(in.failed());
}

TEST(ObjectFrame, ReadingBeyondTheCountFails) {
  ObjectImage image;
  const std::size_t at = image.open(1);
  image.close(at);
  image.put(std::uint32_t{5});
  Cursor in(image.all());
  const Frame frame = read_frame(in);
  in.skip(4, "member");
  leave_frame(in, frame);
  EXPECT_TRUE(in.failed());
}

TEST(ObjectFrame, TObjectHasTwoBytesMoreIfReferenced) {
  ObjectImage image;
  image.tobject();
  EXPECT_EQ(image.size(), 10u);
  image.tobject(true);
  EXPECT_EQ(image.size(), 22u);
  Cursor in(image.all());
  read_tobject(in);
  EXPECT_EQ(in.position(), 10u);
  read_tobject(in);
  EXPECT_EQ(in.position(), 22u);
}

TEST(ObjectFrame, TObjectWithByteCount) {
  ObjectImage image;
  const std::size_t at = image.open(1);
  image.put(std::uint32_t{0});
  image.put(std::uint32_t{0});
  image.close(at);
  Cursor in(image.all());
  read_tobject(in);
  EXPECT_EQ(in.position(), image.size());
  EXPECT_FALSE(in.failed());
}

TEST(ObjectFrame, TNamed) {
  ObjectImage image;
  const std::string long_title(300, 't');
  image.tnamed("name", long_title);
  Cursor in(image.all());
  const NamedText text = read_tnamed(in);
  EXPECT_EQ(text.name, "name");
  EXPECT_EQ(text.title, long_title);
  EXPECT_EQ(in.left(), 0u);
}

// Tags count from the start of the key, so every test runs with two lengths of it.
class ObjectTags : public testing::TestWithParam<std::uint32_t> {};

TEST_P(ObjectTags, NewClassKnownClassReferenceNull) {
  ObjectImage image(GetParam());
  const std::size_t first = image.open_object("TLeafF");
  image.put(std::uint8_t{1});
  image.close(first);
  const std::size_t second = image.open_object("TLeafF");
  image.put(std::uint8_t{2});
  image.close(second);
  image.reference(image.identity(first));
  image.reference(image.identity(second));
  image.null();

  Cursor in(image.all());
  const ObjectTag a = read_object_tag(in, GetParam());
  EXPECT_EQ(a.kind, ObjectTag::Kind::object);
  EXPECT_EQ(a.class_name, "TLeafF");
  EXPECT_EQ(in.u1("content"), 1);
  EXPECT_EQ(in.position(), a.end);
  const ObjectTag b = read_object_tag(in, GetParam());
  EXPECT_EQ(b.class_name, "TLeafF");
  EXPECT_EQ(in.u1("content"), 2);
  EXPECT_NE(a.identity, b.identity);
  const ObjectTag c = read_object_tag(in, GetParam());
  EXPECT_EQ(c.kind, ObjectTag::Kind::reference);
  EXPECT_EQ(c.identity, a.identity);
  EXPECT_EQ(read_object_tag(in, GetParam()).identity, b.identity);
  EXPECT_EQ(read_object_tag(in, GetParam()).kind, ObjectTag::Kind::null);
  EXPECT_EQ(in.left(), 0u);
  EXPECT_FALSE(in.failed());
}

INSTANTIATE_TEST_SUITE_P(Origins, ObjectTags, testing::Values(0u, 61u));

TEST(ObjectTag, WithoutByteCount) {
  ObjectImage image;
  image.put(std::uint32_t{0xFFFFFFFF});
  image.put_text("TObjString");
  image.put(std::uint8_t{0});
  image.put(std::uint32_t{0x80000000 | 2});  // the class named at byte 0
  Cursor in(image.all());
  const ObjectTag first = read_object_tag(in, 0);
  EXPECT_EQ(first.class_name, "TObjString");
  EXPECT_FALSE(first.counted);
  const ObjectTag second = read_object_tag(in, 0);
  EXPECT_EQ(second.class_name, "TObjString");
  EXPECT_EQ(second.kind, ObjectTag::Kind::object);
  EXPECT_FALSE(in.failed());
}

TEST(ObjectTag, DisplacedEntriesNameOldPositions) {
  ObjectImage image;
  image.put(std::uint32_t{0xFFFFFFFF});
  image.put_text("TA");
  image.put(std::uint8_t{0});
  image.put(std::uint32_t{0x80000000 | 102});  // when this was written, the class name was 100 bytes further on
  Cursor in(image.all());
  read_object_tag(in, 0);
  Cursor plain = in;
  read_object_tag(plain, 0);
  EXPECT_TRUE(plain.failed());
  EXPECT_EQ(read_object_tag(in, 0, -100).class_name, "TA");
}

TEST(ObjectTag, ClassTagThatLeadsNowhereFails) {
  for (const std::uint32_t tag : {0x80000000u, 0x80000001u, 0x80000002u, 0x80000003u, 0x80000009u, 0xFFFFFFFEu}) {
    ObjectImage image;
    image.put(std::uint32_t{0});
    image.put(tag);
    Cursor in(image.all());
    in.skip(4, "front");
    read_object_tag(in, 0);
    EXPECT_TRUE(in.failed()) << tag;
  }
}

TEST(ObjectTag, UnendedOrEmptyClassNameFails) {
  ObjectImage unended;
  unended.put(std::uint32_t{0xFFFFFFFF});
  unended.put_text("TBranch");
  Cursor in(unended.all());
  read_object_tag(in, 0);
  EXPECT_TRUE(in.failed());

  ObjectImage empty;
  empty.put(std::uint32_t{0xFFFFFFFF});
  empty.put(std::uint8_t{0});
  Cursor again(empty.all());
  read_object_tag(again, 0);
  EXPECT_TRUE(again.failed());
}

TEST(ObjectTag, CountBeyondTheEndFails) {
  ObjectImage image;
  const std::size_t at = image.open_object("TA");
  image.patch(at, std::uint32_t{0x40000000 | 1000});
  Cursor in(image.all());
  read_object_tag(in, 0);
  EXPECT_TRUE(in.failed());
}

}  // namespace
}  // namespace tfile
