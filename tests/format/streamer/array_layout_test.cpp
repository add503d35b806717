// SPDX-License-Identifier: Apache-2.0
#include "format/streamer/described_class.h"

namespace tfile::test {
namespace {

// As ROOT describes them.
std::vector<StreamerInfo> array_classes() {
  return {
      class_info("Whole", {stl("m", "vector<array<int,2> >")}),
      class_info("array<int,2>", {array(member("_M_elems", kInt, "int"), {2})}),
      class_info("pair<int,array<int,2> >", {member("first", kInt, "int"), object_member("second", "array<int,2>")})};
}

TEST(ArrayLayout, ArraysInAListAreNumbersOfAClass) {
  const Layout layout = value("vector<array<int,2> >", array_classes());
  const Shape& item = layout.shape.parts[0];
  ASSERT_EQ(item.kind, Shape::Kind::number);
  EXPECT_EQ(item.shape, std::vector<std::uint32_t>{2});
  EntriesImage image;
  const std::size_t at = image.open(kFrame | kMemberWise);
  image.put(std::uint16_t{0});
  image.put(std::uint32_t{0x66188abe});
  image.put(std::uint32_t{2});
  for (const std::int32_t i : {1, 2, 3, 4}) image.put(i);
  image.close(at);
  image.end_entry();
  EXPECT_EQ(array_of<std::int32_t>(run_whole(layout.program, image.with_offsets()), item.slot), (Ints{1, 2, 3, 4}));
}

TEST(ArrayLayout, ArraysInInnerListsAreObjects) {
  const Layout layout = value("vector<vector<array<int,2> > >", array_classes());
  const Shape& item = layout.shape.parts[0].parts[0];
  ASSERT_EQ(item.kind, Shape::Kind::number);
  EntriesImage image;
  const std::size_t at = image.open(kFrame);
  image.put(std::uint32_t{1});
  image.put(std::uint32_t{2});
  for (const std::int32_t i : {1, 3}) {
    const std::size_t object = image.open(0);
    image.put(std::uint32_t{0x66188abe});
    image.put(i);
    image.put(i + 1);
    image.close(object);
  }
  image.close(at);
  image.end_entry();
  EXPECT_EQ(array_of<std::int32_t>(run_whole(layout.program, image.with_offsets()), item.slot), (Ints{1, 2, 3, 4}));
}

TEST(ArrayLayout, ArraysInPairsAreWhatThePairSays) {
  std::vector<StreamerInfo> plain = array_classes();
  plain[2].elements[1] = array(member("second", kInt, "int"), {2});
  for (const auto& classes : {array_classes(), plain}) {
    const bool is_object = classes[2].elements[1].kind == ElementKind::object_any;
    const Layout layout = value("map<int,array<int,2> >", classes);
    const Shape& second = layout.shape.parts[0].parts[1];
    ASSERT_EQ(second.kind, Shape::Kind::number);
    EntriesImage image;
    const std::size_t at = image.open(kFrame | kMemberWise);
    image.put(std::uint16_t{0});
    image.put(std::uint32_t{0x0b5fb752});
    image.put(std::uint32_t{1});
    image.put(std::int32_t{5});
    const std::size_t object = is_object ? image.open(0) : 0;
    if (is_object) image.put(std::uint32_t{0x66188abe});
    image.put(std::int32_t{1});
    image.put(std::int32_t{2});
    if (is_object) image.close(object);
    image.close(at);
    image.end_entry();
    EXPECT_EQ(array_of<std::int32_t>(run_whole(layout.program, image.with_offsets()), second.slot), (Ints{1, 2}));
  }
}

TEST(ArrayLayout, ArraysOfCollections) {
  const Layout layout = one_member(array(stl("m", "vector<int>"), {2}));
  EntriesImage image;
  const std::size_t at = image.open(kFrame);  // one for both
  put_list(image, {1});
  put_list(image, {2, 3});
  image.close(at);
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  const Shape& list = layout.shape.parts[0];
  EXPECT_EQ(array_of<std::int64_t>(chunk, list.slot), (Ends{0, 2}));
  EXPECT_EQ(array_of<std::int64_t>(chunk, list.parts[0].slot), (Ends{0, 1, 3}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, list.parts[0].parts[0].slot), (Ints{1, 2, 3}));
}

TEST(ArrayLayout, ArraysOfObjectsHaveNoHeaderOfTheirOwn) {
  const Layout layout =
      one_member(array(object_member("m", "Small"), {2}), {class_info("Small", {member("a", kInt, "int")})});
  EntriesImage image;
  for (const std::int32_t value : {1, 2}) {
    const std::size_t at = image.open(1);
    image.put(value);
    image.close(at);
  }
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  EXPECT_EQ(array_of<std::int64_t>(chunk, layout.shape.parts[0].slot), (Ends{0, 2}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, layout.shape.parts[0].parts[0].parts[0].slot), (Ints{1, 2}));
}

TEST(ArrayLayout, ArraysOfStringsAndNamedObjectsHaveOneHeader) {
  const Layout strings = one_member(array(member("m", kTString, "TString", ElementKind::string), {2}));
  EntriesImage image;
  std::size_t at = image.open(kFrame);
  image.put_string("a");
  image.put_string("bc");
  image.close(at);
  image.end_entry();
  EXPECT_EQ(text_of(run_whole(strings.program, image.with_offsets()), strings.shape.parts[0].parts[0].slot + 1), "abc");

  const Layout named = one_member(array(member("m", kTNamed, "TNamed", ElementKind::object), {2}));
  EntriesImage objects;
  at = objects.open(kFrame);
  objects.tnamed("x", "");
  objects.tnamed("yz", "");
  objects.close(at);
  objects.end_entry();
  const Shape& item = named.shape.parts[0].parts[0];
  EXPECT_EQ(text_of(run_whole(named.program, objects.with_offsets()), item.parts[1].slot + 1), "xyz");
}

TEST(ArrayLayout, ArraysInAMemberWiseCollectionAreCountedForEachItem) {
  const Layout layout =
      value("vector<Whole>", {class_info("Whole", {member("n", kCounter, "int"), counted("p", kFloat, "n", "Whole")})});
  EntriesImage image;
  const std::size_t at = image.open(kFrame | kMemberWise);
  image.put(std::uint16_t{1});
  image.put(std::uint32_t{3});
  for (const std::int32_t n : {2, 0, 1}) image.put(n);
  image.put(std::uint8_t{1});
  image.put(0.5f);
  image.put(1.5f);
  image.put(std::uint8_t{0});
  image.put(std::uint8_t{1});
  image.put(2.5f);
  image.close(at);
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  const Shape& arrays = layout.shape.parts[0].parts[1];
  EXPECT_EQ(array_of<std::int64_t>(chunk, arrays.slot), (Ends{0, 2, 2, 3}));
  EXPECT_EQ(array_of<float>(chunk, arrays.parts[0].slot), (Floats{0.5f, 1.5f, 2.5f}));
}

}  // namespace
}  // namespace tfile::test
