// SPDX-License-Identifier: Apache-2.0
#include "format/streamer/described_class.h"

namespace tfile::test {
namespace {

// A class that says of each enumeration in a list how long its own number is (0: not).
std::vector<StreamerInfo> with_enumerations(const std::vector<std::pair<std::string, int>>& own) {
  std::vector<StreamerElement> elements;
  for (const auto& [type, code] : own) {
    elements.push_back(stl("m" + std::to_string(elements.size()), "vector<" + type + ">"));
    elements.back().stl_content = code;
  }
  return {class_info("Whole", elements)};
}

TEST(EnumerationLayout, EnumerationsInListsAreAsLongAsAnInt) {
  for (const auto& [code, dtype] : std::vector<std::pair<int, Dtype>>{
           {kInt, Dtype::i4}, {kUInt, Dtype::u4}, {0, Dtype::i4}, {kUChar, Dtype::i4}, {kLong64, Dtype::i4}}) {
    const Layout layout = value("vector<E>", with_enumerations({{"E", code}}));
    EXPECT_EQ(layout.shape.parts[0].dtype, dtype) << code;
    EXPECT_EQ(layout.program.is_assumed, code != kInt && code != kUInt) << code;
    EntriesImage image;
    const std::size_t at = image.open(kFrame);
    put_list(image, {-5, 7});
    image.close(at);
    image.end_entry();
    EXPECT_EQ(array_of<std::int32_t>(run_whole(layout.program, image.with_offsets()), layout.shape.parts[0].slot),
              (Ints{-5, 7}));
  }
}

TEST(EnumerationLayout, EnumerationsElsewhereAreAsLongAsTheirNumbers) {
  const auto classes = with_enumerations({{"E", kShort}, {"B", kUChar}});
  EXPECT_EQ(value("vector<vector<E> >", classes).shape.parts[0].parts[0].dtype, Dtype::i2);
  EXPECT_EQ(value("list<B>", classes).shape.parts[0].dtype, Dtype::u1);
  EXPECT_EQ(value("deque<E>", classes).shape.parts[0].dtype, Dtype::i2);
  EXPECT_EQ(value("pair<B,E>", classes).shape.parts[0].dtype, Dtype::u1);
  EXPECT_EQ(value("set<B>", classes).shape.parts[0].dtype, Dtype::i4);
}

TEST(EnumerationLayout, PairsSayWhatTheirEnumerationsAre) {
  std::vector<StreamerInfo> classes{
      class_info("Whole", {stl("m", "map<int,E>")}),
      class_info("pair<int,E>", {member("first", kInt, "int"), member("second", kUShort, "E")})};
  const Layout layout = value("map<int,E>", classes);
  EXPECT_EQ(layout.shape.parts[0].parts[1].dtype, Dtype::u2);
  EntriesImage image;
  const std::size_t at = image.open(kFrame | kMemberWise);
  image.put(std::uint16_t{0});
  image.put(std::uint32_t{0x0b5fb752});
  image.put(std::uint32_t{2});
  image.put(std::int32_t{1});
  image.put(std::int32_t{2});
  image.put(std::uint16_t{60000});
  image.put(std::uint16_t{3});
  image.close(at);
  image.end_entry();
  EXPECT_EQ(
      array_of<std::uint16_t>(run_whole(layout.program, image.with_offsets()), layout.shape.parts[0].parts[1].slot),
      (std::vector<std::uint16_t>{60000, 3}));
}

// ROOT takes the memory of each of these collections for numbers of 4 bytes.
TEST(EnumerationLayout, EnumerationsOfWhichROOTLosesItemsAreRefused) {
  std::vector<StreamerInfo> classes = with_enumerations({{"E", kShort}, {"I", kInt}});
  classes.push_back(class_info("Holder", {stl("es", "vector<E>")}));
  const auto reason = [&](const std::string& type) {
    const StreamerInfos infos = read_infos(classes);
    LayoutCompiler compiler(infos);
    const auto shape = compiler.element_of_items(stl("x", type), Op::Kind::rest);
    return shape ? std::string() : shape.error().text;
  };
  EXPECT_NE(reason("vector<E>").find("does not write all items of vector<E>"), std::string::npos);
  EXPECT_EQ(reason("vector<I>"), "");
  StreamerElement arrays = array(stl("a", "vector<E>"), {2});
  EXPECT_NE(reason_against(arrays, classes).find("does not write all items"), std::string::npos);
}

TEST(EnumerationLayout, TypesOfWhichNothingIsSaidAreEnumerationsIfTheBytesMayShowIt) {
  const StreamerInfos infos = read_infos({class_info("Known", {member("i", kInt, "int")})});
  for (const bool guess : {false, true}) {
    LayoutCompiler compiler(infos, nullptr, {.has_enums = guess});
    const auto shape = compiler.value(parse_type_name("vector<vector<E> >"), ValueIn::member);
    ASSERT_TRUE(shape);
    EXPECT_EQ(shape->parts[0].parts[0].kind, guess ? Shape::Kind::number : Shape::Kind::record);
    EXPECT_EQ(compiler.finish().is_assumed, guess);
  }
  LayoutCompiler compiler(infos, nullptr, {.has_enums = true});
  EXPECT_EQ(compiler.value(parse_type_name("vector<T<int> >"), ValueIn::member)->parts[0].kind, Shape::Kind::record);
}

}  // namespace
}  // namespace tfile::test
