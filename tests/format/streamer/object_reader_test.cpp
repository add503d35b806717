// SPDX-License-Identifier: Apache-2.0
#include "streamer/walk/object_reader.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "format/streamer/object_image.h"
#include "format/streamer/streamer_info_image.h"
#include "streamer/walk/object_json.h"

namespace tfile {
namespace {

using test::ObjectImage;
using namespace element_type;

constexpr std::uint32_t kKeylen = 40;

StreamerElement read_member(ElementKind kind, int type, std::string name, std::string type_name) {
  StreamerElement e;
  e.kind = kind;
  e.type = type;
  e.name = std::move(name);
  e.type_name = std::move(type_name);
  return e;
}
StreamerElement number(std::string name, int type = kInt) {
  return read_member(ElementKind::basic, type, std::move(name), "int");
}
StreamerElement base_element(std::string name, int version) {
  StreamerElement e = read_member(ElementKind::base, name == "TObject" ? kTObject : kBase, std::move(name), "BASE");
  e.base_version = version;
  return e;
}
StreamerElement pointer(std::string name, std::string to) {
  return read_member(ElementKind::object_pointer, kObjectP, std::move(name), std::move(to) + "*");
}
StreamerElement stl_element(std::string name, std::string type) {
  StreamerElement e = read_member(ElementKind::stl, kStreamer, std::move(name), std::move(type));
  e.stl_type = 1;
  return e;
}

StreamerInfo info(std::string name, int version, std::vector<StreamerElement> elements) {
  StreamerInfo made;
  made.class_name = std::move(name);
  made.version = version;
  made.elements = std::move(elements);
  return made;
}

class ObjectReaderTest : public testing::Test {
 protected:
  void describe(std::vector<StreamerInfo> infos) {
    std::vector<std::string> warnings;
    infos_ = StreamerInfos::read(test::streamer_info_record(infos, kKeylen).all(), kKeylen, warnings);
    ASSERT_TRUE(warnings.empty()) << warnings[0];
  }
  Result<std::string> try_json(const ObjectImage& image, std::string_view class_name) {
    auto text = object_json(infos_, class_name, image.all(), kKeylen);
    if (text) std::erase_if(*text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
  }
  std::string json(const ObjectImage& image, std::string_view class_name) {
    const auto text = try_json(image, class_name);
    return text ? *text : "error: " + text.error().text;
  }
  StreamerInfos infos_;
};

TEST_F(ObjectReaderTest, MembersOfBasesStandAmongThoseOfTheClass) {
  describe({info("B", 2, {number("b")}),
            info("A", 3, {base_element("TObject", 1), base_element("B", 2), number("a", kDouble)})});
  ObjectImage image(kKeylen);
  const auto own = image.open(3);
  image.tobject();
  const auto inner = image.open(2);
  image.put(std::int32_t{7});
  image.close(inner);
  image.put(1.5);
  image.close(own);
  EXPECT_EQ(json(image, "A"), R"({"_typename":"A","fUniqueID":0,"fBits":50331648,"b":7,"a":1.5})");
}

TEST_F(ObjectReaderTest, TheSecondPointerToAnObjectIsAReferenceByItsPlace) {
  describe({info("P", 1, {number("n")}),
            info("A", 1, {pointer("p", "P"), pointer("q", "P"), pointer("r", "P"), pointer("me", "A")})});
  ObjectImage image(kKeylen);
  const auto own = image.open(1);
  const auto identity = image.identity(image.size());
  const auto slot = image.open_object("P");
  const auto object = image.open(1);
  image.put(std::int32_t{5});
  image.close(object);
  image.close(slot);
  image.reference(identity);
  image.null();
  image.reference(1);  // the object of the key
  image.close(own);
  EXPECT_EQ(json(image, "A"),
            R"({"_typename":"A","p":{"_typename":"P","n":5},"q":{"$ref":1},"r":null,"me":{"$ref":0}})");
}

TEST_F(ObjectReaderTest, ListsHaveOptionsAndArraysDoNotShowEmptySlots) {
  describe({info("A", 1,
                 {read_member(ElementKind::object, kObject, "list", "TList"),
                  read_member(ElementKind::object, kObject, "array", "TObjArray")})});
  ObjectImage image(kKeylen);
  const auto own = image.open(1);
  const auto list = image.open(5);
  image.tobject();
  image.put_string("");
  image.put(std::int32_t{2});
  for (const std::string option : {"", "same"}) {
    const auto slot = image.open_object("TNamed");
    image.tnamed("x", "y");
    image.close(slot);
    image.put_string(option);
  }
  image.close(list);
  const auto array = image.open_array(2);
  image.null();
  const auto slot = image.open_object("TNamed");
  image.tnamed("z", "");
  image.close(slot);
  image.close(array);
  image.close(own);
  const std::string x = R"({"_typename":"TNamed","fUniqueID":0,"fBits":50331648,"fName":"x","fTitle":"y"})";
  const std::string z = R"({"_typename":"TNamed","fUniqueID":0,"fBits":50331648,"fName":"z","fTitle":""})";
  EXPECT_EQ(json(image, "A"),
            R"({"_typename":"A","list":{"_typename":"TList","name":"TList","arr":[)" + x + "," + x +
                R"(],"opt":[null,"same"]},"array":{"_typename":"TObjArray","name":"TObjArray","arr":[)" + z + "]}}");
}

TEST_F(ObjectReaderTest, CountedArraysTakeTheirLengthFromAnotherMember) {
  StreamerElement counted = read_member(ElementKind::basic_pointer, kOffsetPointer + kShort, "values", "short*");
  counted.count_name = "n";
  describe({info("A", 1, {number("n", kCounter), counted, counted})});
  ObjectImage image(kKeylen);
  const auto own = image.open(1);
  image.put(std::int32_t{2});
  image.put(std::uint8_t{1});
  image.put(std::int16_t{-1});
  image.put(std::int16_t{2});
  image.put(std::uint8_t{0});
  image.close(own);
  EXPECT_EQ(json(image, "A"), R"({"_typename":"A","n":2,"values":[-1,2],"values":[]})");
}

// ROOT gives `T* p[2]` the code of a pointer; only the length shows that it is an array.
TEST_F(ObjectReaderTest, ArraysOfPointersHaveTheCodeOfAPointerOrTheirOwn) {
  for (const int code : {kObjectP, kObjectP + kOffsetArray}) {
    StreamerElement pointers = pointer("p", "P");
    pointers.type = code;
    pointers.array_length = pointers.max_index[0] = 2;
    pointers.array_dim = 1;
    describe({info("P", 1, {number("n")}), info("A", 1, {pointers, number("m")})});
    ObjectImage image(kKeylen);
    const auto own = image.open(1);
    const auto slot = image.open_object("P");
    const auto object = image.open(1);
    image.put(std::int32_t{5});
    image.close(object);
    image.close(slot);
    image.null();
    image.put(std::int32_t{9});
    image.close(own);
    EXPECT_EQ(json(image, "A"), R"({"_typename":"A","p":[{"_typename":"P","n":5},null],"m":9})");
  }
}

// Item after item, as in ROOT's JSON, although the file is stored member by member.
TEST_F(ObjectReaderTest, ItemsOfMemberWiseCollectionsAreToldItemByItem) {
  describe({info("P", 1, {number("n"), stl_element("v", "vector<int>")}),
            info("A", 1, {stl_element("items", "vector<P>")})});
  ObjectImage image(kKeylen);
  const auto own = image.open(1);
  const auto items = image.open(10 | 0x4000);
  image.put(std::uint16_t{1});
  image.put(std::uint32_t{2});
  image.put(std::int32_t{10});
  image.put(std::int32_t{20});
  const auto vectors = image.open(10);
  image.put(std::uint32_t{1});
  image.put(std::int32_t{11});
  image.put(std::uint32_t{0});
  image.close(vectors);
  image.close(items);
  image.close(own);
  EXPECT_EQ(json(image, "A"),
            R"({"_typename":"A","items":[{"_typename":"P","n":10,"v":[11]},{"_typename":"P","n":20,"v":[]}]})");
}

TEST_F(ObjectReaderTest, MapsArePairs) {
  describe({info("A", 1, {stl_element("m", "map<int,string>")})});
  ObjectImage image(kKeylen);
  const auto own = image.open(1);
  const auto map = image.open(10);
  image.put(std::uint32_t{1});
  image.put(std::int32_t{4});
  image.put_string("four");
  image.close(map);
  image.close(own);
  EXPECT_EQ(json(image, "A"), R"({"_typename":"A","m":[{"$pair":"pair<int,string>","first":4,"second":"four"}]})");
}

TEST_F(ObjectReaderTest, WhatIsNotDescribedIsLeftOutAndWhatFollowsIsThere) {
  describe({info("A", 1, {pointer("p", "Secret"), number("n")})});
  ObjectImage image(kKeylen);
  const auto own = image.open(1);
  const auto slot = image.open_object("Secret");
  const auto object = image.open(3);
  image.put(1.0);
  image.close(object);
  image.close(slot);
  image.put(std::int32_t{9});
  image.close(own);
  EXPECT_EQ(json(image, "A"), R"({"_typename":"A","p":{"$unread":"thefiledoesnotdescribeclassSecret"},"n":9})");
}

TEST_F(ObjectReaderTest, OfWhatHasNoBytesNothingIsUnread) {
  describe({info("A", 1, {pointer("p", "Secret"), number("n")})});
  ObjectImage image(kKeylen);
  const auto own = image.open(1);
  const auto slot = image.open_object("Secret");
  image.close(image.open(3));
  image.close(slot);
  image.put(std::int32_t{9});
  image.close(own);
  EXPECT_EQ(json(image, "A"), R"({"_typename":"A","p":{"_typename":"Secret"},"n":9})");
}

TEST_F(ObjectReaderTest, DamageInsideAnObjectStaysInIt) {
  describe({info("P", 1, {number("n"), number("missing")}), info("A", 1, {pointer("p", "P"), number("n")})});
  ObjectImage image(kKeylen);
  const auto own = image.open(1);
  const auto slot = image.open_object("P");
  const auto object = image.open(1);
  image.put(std::int32_t{5});
  image.close(object);
  image.close(slot);
  image.put(std::int32_t{9});
  image.close(own);
  const std::string text = json(image, "A");
  EXPECT_NE(text.find(R"("n":5,"missing":null,"$unread":)"), text.npos) << text;
  EXPECT_NE(text.find(R"(},"n":9})"), text.npos) << text;
}

TEST_F(ObjectReaderTest, AKeyOfAnUnknownClassIsAnError) {
  describe({});
  ObjectImage image(kKeylen);
  image.close(image.open(1));
  const auto text = try_json(image, "Secret");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::unsupported);
}

// A class that contains itself by value, ten times per level: an object of it would be infinite.
TEST_F(ObjectReaderTest, ClassesThatHoldThemselvesAreRefused) {
  StreamerElement self = read_member(ElementKind::object_any, kAny + kOffsetArray, "self", "A");
  self.array_length = 10;
  describe({info("A", 1, {self})});
  ObjectImage image(kKeylen);
  for (int i = 0; i < 1000; ++i) image.put(std::uint16_t{1});
  EXPECT_FALSE(try_json(image, "A"));
}

// Arrays of arrays of empty classes: there are no bytes to limit them.
TEST_F(ObjectReaderTest, ArraysOfNothingEnd) {
  const auto array_of = [](std::string type) {
    StreamerElement e = read_member(ElementKind::stl, kStreamer, "a", std::move(type));
    e.stl_type = 1;
    e.array_length = 1 << 20;
    return e;
  };
  describe({info("A", 1, {array_of("array<array<array<Empty,1000>,1000>,1000>")}), info("Empty", 1, {})});
  ObjectImage image(kKeylen);
  image.close(image.open(1));
  static_cast<void>(try_json(image, "A"));  // must return
}

TEST_F(ObjectReaderTest, TextThatIsNoUtf8IsKeptAsSurrogates) {
  describe({});
  ObjectImage image(kKeylen);
  image.put_string("a\xE9\"\n");
  EXPECT_EQ(json(image, "string"), R"("a\udce9\"\n")");
}

TEST_F(ObjectReaderTest, NumbersHaveRootsDigits) {
  describe({info("A", 1, {number("f", kFloat), number("d", kDouble), number("nan", kDouble), number("b", kBool)})});
  ObjectImage image(kKeylen);
  const auto own = image.open(1);
  image.put(0.1f);
  image.put(1.0 / 3);
  image.put(std::numeric_limits<double>::quiet_NaN());
  image.put(std::uint8_t{1});
  image.close(own);
  EXPECT_EQ(json(image, "A"), R"({"_typename":"A","f":0.1,"d":0.333333333333333,"nan":null,"b":true})");
}

TEST_F(ObjectReaderTest, DerivationIsFollowedThroughFirstBases) {
  describe({info("Mine", 1, {base_element("TH1F", 3)})});
  EXPECT_TRUE(derives_from(infos_, "Mine", "TH1"));
  EXPECT_TRUE(derives_from(infos_, "TH1", "TH1"));
  EXPECT_FALSE(derives_from(infos_, "Mine", "TH2"));
}

}  // namespace
}  // namespace tfile
