// SPDX-License-Identifier: Apache-2.0
// ROOT's own classes in both users of their table: the compiler of columns and the walk over objects. The expected
// results are from ROOT's own streamers.
#include "streamer/info/own_class.h"

#include <gtest/gtest.h>

#include "format/streamer/described_class.h"
#include "format/streamer/entries_image.h"
#include "format/streamer/streamer_info_image.h"
#include "streamer/layout/class_layout.h"
#include "streamer/walk/object_json.h"

namespace tfile {
namespace {

using namespace element_type;
using test::array_of;
using test::EntriesImage;
using test::member;
using test::run_whole;
using Ends = std::vector<std::int64_t>;
using Ints = std::vector<std::int32_t>;
using Words = std::vector<std::uint32_t>;

StreamerInfo own_info(const std::string& name, std::vector<StreamerElement> elements) {
  StreamerInfo info;
  info.class_name = name;
  info.version = 1;
  info.elements = std::move(elements);
  return info;
}

// Point is one number; Object is the same, derived from TObject.
class OwnClassTest : public testing::Test {
 protected:
  OwnClassTest() {
    const StreamerElement x = member("x", kInt, "int", ElementKind::basic);
    const StreamerElement tobject = member("TObject", kTObject, "BASE", ElementKind::base);
    std::vector<std::string> warnings;
    const std::vector<StreamerInfo> classes{
        own_info("Point", {x}), own_info("Object", {tobject, x}),
        own_info("Referring", {member("ref", kAny, "TRef", ElementKind::object_any), x}),
        own_info("Widget", {member("TQObject", kBase, "BASE", ElementKind::base), x})};
    infos_ = StreamerInfos::read(test::streamer_info_record(classes, 0).all(), 0, warnings);
    EXPECT_TRUE(warnings.empty());
  }

  // Reads one entry of the type, after a look for the classes of objects in it.
  void read_columns(const std::string& type, EntriesImage image) {
    image.end_entry();
    LayoutCompiler first(infos_);
    ASSERT_TRUE(first.value(parse_type_name(type), ValueIn::member));
    const FoundClasses found = find_classes(first.finish(), image.with_offsets());
    LayoutCompiler second(infos_, &found);
    auto shape = second.value(parse_type_name(type), ValueIn::member);
    ASSERT_TRUE(shape) << shape.error().text;
    shape_ = *std::move(shape);
    chunk_ = run_whole(second.finish(), image.with_offsets());
  }
  template <class T = std::int32_t>
  std::vector<T> column(const Shape& shape) const {
    return array_of<T>(chunk_, shape.slot);
  }
  std::string json(const std::string& type, const EntriesImage& image) const {
    auto text = object_json(infos_, type, image.all(), 0);
    if (!text) return "error: " + text.error().text;
    std::erase_if(*text, [](char c) { return c == ' ' || c == '\n'; });
    return *text;
  }

  static void put_point(EntriesImage& image, std::int32_t x) {
    const auto object = image.open(1);
    image.put(x);
    image.close(object);
  }
  static void put_point_slot(EntriesImage& image, std::int32_t x) {
    const auto slot = image.open_object("Point");
    put_point(image, x);
    image.close(slot);
  }
  // A collection of one point, as that version of the class writes it.
  static EntriesImage one_point(std::uint16_t version, bool has_lower_bound, bool has_option) {
    EntriesImage image;
    const auto frame = image.open(version);
    if (version > 2) image.tobject();
    if (version > 1) image.put_string("n");
    image.put(std::int32_t{1});
    if (has_lower_bound) image.put(std::int32_t{0});
    put_point_slot(image, 7);
    if (has_option) image.put_string("o");
    image.close(frame);
    return image;
  }
  void expect_one_point(const std::string& type, const EntriesImage& image, std::uint16_t version,
                        const std::string& more) {
    SCOPED_TRACE(type + " " + std::to_string(version));
    read_columns(type, image);
    ASSERT_EQ(shape_.parts.size(), 1u);
    EXPECT_EQ(column<std::int64_t>(shape_), (Ends{0, 1}));
    EXPECT_EQ(column(shape_.parts[0].parts[0].parts[0]), (Ints{7}));
    EXPECT_EQ(json(type, image), R"({"_typename":")" + type + R"(","name":")" + (version > 1 ? "n" : type) +
                                     R"(","arr":[{"_typename":"Point","x":7}])" + more + "}");
  }

  StreamerInfos infos_;
  Shape shape_;
  Chunk chunk_;
};

TEST_F(OwnClassTest, ABaseThatWritesNothingTakesNoBytes) {
  EntriesImage image;
  put_point(image, 7);
  read_columns("Widget", image);
  ASSERT_EQ(shape_.parts.size(), 2u);
  EXPECT_TRUE(shape_.parts[0].parts.empty());
  EXPECT_EQ(column(shape_.parts[1]), (Ints{7}));
  EXPECT_EQ(json("Widget", image), R"({"_typename":"Widget","x":7})");
}

// The first versions have no TObject, and the very first no name; options were added later still.
TEST_F(OwnClassTest, CollectionsOfOldVersionsHaveShorterHeads) {
  for (std::uint16_t version = 1; version <= 3; ++version) {
    expect_one_point("TObjArray", one_point(version, true, false), version, "");
    expect_one_point("TOrdCollection", one_point(version, false, false), version, "");
  }
  for (std::uint16_t version = 1; version <= 5; ++version) {
    const bool has_option = version > 3;
    expect_one_point("TList", one_point(version, false, has_option), version,
                     has_option ? R"(,"opt":["o"])" : R"(,"opt":[null])");
  }
}

TEST_F(OwnClassTest, MapsOfOldVersionsHaveShorterHeads) {
  for (std::uint16_t version = 1; version <= 3; ++version) {
    EntriesImage image;
    const auto frame = image.open(version);
    if (version > 2) image.tobject();
    if (version > 1) image.put_string("n");
    image.put(std::int32_t{1});
    put_point_slot(image, 1);
    put_point_slot(image, 2);
    image.close(frame);
    read_columns("TMap", image);
    ASSERT_EQ(shape_.parts.size(), 1u);
    EXPECT_EQ(column(shape_.parts[0].parts[0].parts[0].parts[0]), (Ints{1}));
    EXPECT_EQ(column(shape_.parts[0].parts[1].parts[0].parts[0]), (Ints{2}));
    EXPECT_NE(json("TMap", image).find(R"("second":{"_typename":"Point","x":2})"), std::string::npos);
  }
}

// The sign of the number of items has no meaning.
TEST_F(OwnClassTest, NegativeCountsOfClonesAreCounts) {
  for (const bool by_member : {false, true}) {
    for (const std::int32_t count : {2, -2}) {
      EntriesImage image;
      const auto frame = image.open(4);
      image.put(std::uint16_t{1});
      image.put(std::uint32_t{0});
      image.put(std::uint32_t{by_member ? kBypassStreamerBit : 0});
      image.put_string("n");
      image.put_string("Point;1");
      image.put(count);
      image.put(std::int32_t{0});
      for (std::int32_t x = 7; x <= 8; ++x) {
        if (by_member) {
          image.put(x);
        } else {
          image.put(std::uint8_t{1});
          put_point(image, x);
        }
      }
      image.close(frame);
      read_columns("TClonesArray", image);
      EXPECT_EQ(column<std::int64_t>(shape_), (Ends{0, 2}));
      ASSERT_EQ(shape_.parts.size(), 1u);
      ASSERT_EQ(shape_.parts[0].parts.size(), 1u);
      EXPECT_EQ(column(shape_.parts[0].parts[0]), (Ints{7, 8}));
      EXPECT_EQ(json("TClonesArray", image),
                R"({"_typename":"TClonesArray","name":"n","arr":[{"_typename":"Point","x":7},)"
                R"({"_typename":"Point","x":8}]})");
    }
  }
}

// Member by member, items have no header that tells one version from another.
TEST_F(OwnClassTest, ItemsOfAVersionThatNobodyDescribesAreNamed) {
  EntriesImage image;
  const auto frame = image.open(4);
  image.put(std::uint16_t{1});
  image.put(std::uint32_t{0});
  image.put(kBypassStreamerBit);
  image.put_string("n");
  image.put_string("Point;7");
  image.put(std::int32_t{1});
  image.put(std::int32_t{0});
  image.put(1.5);
  image.close(frame);
  image.end_entry();
  LayoutCompiler first(infos_);
  ASSERT_TRUE(first.value(parse_type_name("TClonesArray"), ValueIn::member));
  const FoundClasses found = find_classes(first.finish(), image.with_offsets());
  LayoutCompiler second(infos_, &found);
  ASSERT_TRUE(second.value(parse_type_name("TClonesArray"), ValueIn::member));
  const auto read = run_program(second.finish(), image.with_offsets(), {}, nullptr);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::unsupported);
  EXPECT_NE(read.error().text.find("version 7 of class Point, the newest described version is 1"), std::string::npos);
}

// In all other collections, a negative number of items is damage.
TEST_F(OwnClassTest, NegativeCountsOfOthersAreDamage) {
  EntriesImage image;
  const auto frame = image.open(3);
  image.tobject();
  image.put_string("n");
  image.put(std::int32_t{-1});
  image.put(std::int32_t{0});
  image.close(frame);
  image.end_entry();
  LayoutCompiler compiler(infos_);
  ASSERT_TRUE(compiler.value(parse_type_name("TObjArray"), ValueIn::member));
  test::expect_damaged(compiler.finish(), image.with_offsets());
  EXPECT_NE(json("TObjArray", image).find("$unread"), std::string::npos);
}

// The version of a TObject may follow a byte count: for a single object, and for one of many similar ones.
TEST_F(OwnClassTest, TObjectsMayHaveAByteCount) {
  EntriesImage image;
  image.put(std::uint32_t{3});
  for (const bool is_counted : {false, true, false}) {
    const auto object = image.open(1);
    const std::size_t tobject = image.size();
    if (is_counted) image.put(std::uint32_t{0});
    image.put(std::uint16_t{1});
    image.put(std::uint32_t{5});
    image.put(std::uint32_t{0x03000000});
    if (is_counted) image.close(tobject);
    image.put(std::int32_t{7});
    image.close(object);
  }
  EXPECT_EQ(json("vector<Object>", image), R"([{"_typename":"Object","fUniqueID":5,"fBits":50331648,"x":7},)"
                                           R"({"_typename":"Object","fUniqueID":5,"fBits":50331648,"x":7},)"
                                           R"({"_typename":"Object","fUniqueID":5,"fBits":50331648,"x":7}])");
  image.end_entry();
  LayoutCompiler compiler(infos_);
  const auto shape = compiler.value(parse_type_name("vector<Object>"), ValueIn::item);
  ASSERT_TRUE(shape);
  chunk_ = run_whole(compiler.finish(), image.with_offsets());
  const Shape& object = shape->parts[0];
  EXPECT_EQ(column<std::uint32_t>(object.parts[0].parts[0]), (Words{5, 5, 5}));
  EXPECT_EQ(column(object.parts[1]), (Ints{7, 7, 7}));
}

// A TRef to which another one refers has two process ids: that of its TObject, and its own.
TEST_F(OwnClassTest, AReferenceMayBeReferredTo) {
  EntriesImage image;
  const auto object = image.open(1);
  image.tobject(true);
  image.put(std::uint16_t{3});
  image.put(std::int32_t{7});
  image.close(object);
  read_columns("Referring", image);
  EXPECT_EQ(column<std::uint16_t>(shape_.parts[0].parts[1]), (std::vector<std::uint16_t>{3}));
  EXPECT_EQ(column(shape_.parts[1]), (Ints{7}));
  EXPECT_EQ(json("Referring", image),
            R"({"_typename":"Referring","ref":{"_typename":"TRef","fUniqueID":0,"fBits":50331664,"fPID":3},"x":7})");
}

}  // namespace
}  // namespace tfile
