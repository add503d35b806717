// SPDX-License-Identifier: Apache-2.0
#include "format/streamer/described_class.h"

namespace tfile::test {
namespace {

TEST(ClassLayout, BasicTypesHaveTheirSizes) {
  const std::pair<int, Dtype> kTypes[] = {{kChar, Dtype::i1},       {kShort, Dtype::i2}, {kInt, Dtype::i4},
                                          {kLong, Dtype::i8},       {kFloat, Dtype::f4}, {kDouble, Dtype::f8},
                                          {kLegacyChar, Dtype::i1}, {kUChar, Dtype::u1}, {kUShort, Dtype::u2},
                                          {kUInt, Dtype::u4},       {kULong, Dtype::u8}, {kLong64, Dtype::i8},
                                          {kULong64, Dtype::u8},    {kBool, Dtype::b1},  {kCounter, Dtype::i4}};
  for (const auto& [type, dtype] : kTypes) {
    const Layout layout = one_member(member("m", type, "?"));
    ASSERT_EQ(layout.shape.parts.size(), 1u);
    EXPECT_EQ(layout.shape.parts[0].kind, Shape::Kind::number) << type;
    EXPECT_EQ(layout.shape.parts[0].dtype, dtype) << type;
    EXPECT_EQ(layout.program.slots[0].item_size, size_of(dtype)) << type;
    EXPECT_EQ(layout.program.slots[0].kind == Slot::Kind::boolean, type == kBool) << type;
  }
}

TEST(ClassLayout, CountersHaveTheSignOfTheirType) {
  for (const auto& [name, dtype] :
       {std::pair{"int", Dtype::i4}, {"Int_t", Dtype::i4}, {"UInt_t", Dtype::u4}, {"unsigned int", Dtype::u4}})
    EXPECT_EQ(one_member(member("n", kCounter, name)).shape.parts[0].dtype, dtype) << name;
}

TEST(ClassLayout, MembersLieOneAfterTheOther) {
  const Layout layout = members({class_info("Whole", {member("a", kShort, "short"), member("b", kDouble, "double")})});
  EntriesImage image;
  image.put(std::int16_t{-2});
  image.put(2.5);
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.without_offsets());
  EXPECT_EQ(array_of<std::int16_t>(chunk, layout.shape.parts[0].slot), (std::vector<std::int16_t>{-2}));
  EXPECT_EQ(array_of<double>(chunk, layout.shape.parts[1].slot), (std::vector<double>{2.5}));
  EXPECT_EQ(layout.shape.parts[0].name, "a");
  EXPECT_EQ(layout.shape.parts[1].name, "b");
  EXPECT_EQ(layout.shape.class_name, "Whole");
}

TEST(ClassLayout, FixedArraysHaveAShape) {
  const Layout layout = one_member(array(member("m", kInt, "int"), {2, 3}));
  EXPECT_EQ(layout.shape.parts[0].shape, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(layout.program.slots[0].item_size, 24u);
  EntriesImage image;
  for (std::int32_t i = 0; i < 6; ++i) image.put(i);
  image.end_entry();
  EXPECT_EQ(array_of<std::int32_t>(run_whole(layout.program, image.with_offsets()), 0), (Ints{0, 1, 2, 3, 4, 5}));
}

TEST(ClassLayout, RangesAreInTheComment) {
  StreamerElement element = array(member("m", kDouble32, "Double32_t"), {2});
  element.title = "[0,10,10] a momentum";
  const Layout layout = one_member(element);
  EntriesImage image;
  image.put(std::uint32_t{512});
  image.put(std::uint32_t{1024});
  image.end_entry();
  EXPECT_EQ(array_of<double>(run_whole(layout.program, image.with_offsets()), 0), (std::vector<double>{5, 10}));
  EXPECT_EQ(one_member(member("m", kFloat16, "Float16_t")).shape.parts[0].dtype, Dtype::f4);
}

TEST(ClassLayout, StringsOfEachSort) {
  const Layout layout = members({class_info(
      "Whole", {member("t", kTString, "TString", ElementKind::string),
                member("s", kStreamer, "string", ElementKind::stl_string), member("c", kCharStar, "char*")})});
  EntriesImage image;
  image.put_string("tt");
  const std::size_t at = image.open(kFrame);  // only std::string has a header
  image.put_string("sss");
  image.close(at);
  image.put(std::int32_t{1});
  image.put_text("c");
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.without_offsets());
  EXPECT_EQ(text_of(chunk, 1) + text_of(chunk, 3) + text_of(chunk, 5), "ttsssc");
}

TEST(ClassLayout, CountedArraysHaveAFlag) {
  const Layout layout =
      members({class_info("Whole", {member("n", kCounter, "int"), counted("p", kFloat, "n", "Whole")})});
  EntriesImage image;
  image.put(std::int32_t{2});
  image.put(std::uint8_t{1});
  image.put(1.5f);
  image.put(2.5f);
  image.end_entry();
  image.put(std::int32_t{0});
  image.put(std::uint8_t{0});
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.without_offsets());
  const Shape& list = layout.shape.parts[1];
  ASSERT_EQ(list.kind, Shape::Kind::list);
  EXPECT_EQ(array_of<std::int64_t>(chunk, list.slot), (Ends{0, 2, 2}));
  EXPECT_EQ(array_of<float>(chunk, list.parts[0].slot), (Floats{1.5, 2.5}));
}

// A counter of the same name in another class, read in between, counts only the arrays of that class.
TEST(ClassLayout, CountersBelongToTheirClass) {
  const StreamerInfo inner = class_info("Inner", {member("n", kCounter, "int"), counted("q", kFloat, "n", "Inner")});
  const Layout layout = members({class_info("Whole", {member("n", kCounter, "int"), object_member("inner", "Inner"),
                                                      counted("p", kFloat, "n", "Whole")}),
                                 inner});
  EntriesImage image;
  image.put(std::int32_t{2});
  const std::size_t at = image.open(1);
  image.put(std::int32_t{1});
  image.put(std::uint8_t{1});
  image.put(9.0f);
  image.close(at);
  image.put(std::uint8_t{1});
  image.put(1.0f);
  image.put(2.0f);
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  EXPECT_EQ(array_of<float>(chunk, layout.shape.parts[2].parts[0].slot), (Floats{1, 2}));
  EXPECT_EQ(array_of<float>(chunk, layout.shape.parts[1].parts[1].parts[0].slot), (Floats{9}));
}

TEST(ClassLayout, ABasesCounterCountsArraysOfItsHeirs) {
  const Layout layout = members({class_info("Whole", {base("Base", 3), counted("p", kInt, "n", "Base")}),
                                 class_info("Base", {member("n", kCounter, "int")}, 3)});
  EntriesImage image;
  const std::size_t at = image.open(3);
  image.put(std::int32_t{1});
  image.close(at);
  image.put(std::uint8_t{1});
  image.put(std::int32_t{5});
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  EXPECT_EQ(array_of<std::int32_t>(chunk, layout.shape.parts[1].parts[0].slot), (Ints{5}));
  EXPECT_NE(reason_against(counted("p", kInt, "n", "Whole")), "");
}

TEST(ClassLayout, ABaseIsReadByTheVersionThatIsMeant) {
  const Layout layout =
      members({class_info("Whole", {base("Base", 1)}), class_info("Base", {member("old", kChar, "char")}, 1),
               class_info("Base", {member("late", kInt, "int")}, 2)});
  EXPECT_EQ(layout.shape.parts[0].name, "Base");
  ASSERT_EQ(layout.shape.parts[0].parts.size(), 1u);
  EXPECT_EQ(layout.shape.parts[0].parts[0].name, "old");
}

TEST(ClassLayout, TObjectAsBaseAndAsMember) {
  const Layout layout = members({class_info("Whole", {member("TObject", kTObject, "BASE", ElementKind::base),
                                                      member("named", kTNamed, "TNamed", ElementKind::object)})});
  EntriesImage image;
  image.tobject(true);
  image.tnamed("name", "title");
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  const Shape& object = layout.shape.parts[0];
  EXPECT_EQ(object.parts[1].name, "fBits");
  EXPECT_EQ(array_of<std::uint32_t>(chunk, object.parts[1].slot), (std::vector<std::uint32_t>{0x03000010}));
  const Shape& name = layout.shape.parts[1].parts[1];
  EXPECT_EQ(name.name, "fName");
  EXPECT_EQ(text_of(chunk, name.slot + 1), "name");
}

TEST(ClassLayout, ArrayClassesHaveNoHeader) {
  const Layout layout = members({class_info("Whole", {base("TArrayI", 1), object_member("m", "TArrayF")})});
  EntriesImage image;
  put_list(image, {1, 2});
  image.put(std::uint32_t{1});
  image.put(0.5f);
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  EXPECT_EQ(array_of<std::int32_t>(chunk, layout.shape.parts[0].parts[0].slot), (Ints{1, 2}));
  EXPECT_EQ(array_of<float>(chunk, layout.shape.parts[1].parts[0].slot), (Floats{0.5}));
}

TEST(ClassLayout, WhatIsNotDecodedHasAReason) {
  EXPECT_NE(reason_against(object_member("m", "TTree")).find("TTree"), std::string::npos);
  EXPECT_NE(reason_against(member("m", kStreamLoop, "Track*", ElementKind::loop)).find("counter"), std::string::npos);
  EXPECT_NE(reason_against(stl("m", "bitset<99999999999>")), "");
}

TEST(ClassLayout, AClassThatContainsItselfEnds) {
  EXPECT_NE(reason_against(object_member("m", "Whole")), "");
  EXPECT_NE(reason_against(stl("m", "vector<Whole>")), "");
  EXPECT_NE(reason_against(base("Whole", 1)), "");
}

TEST(ClassLayout, AClassThatGrowsWithoutBoundEnds) {
  // Each class has 40 members of the next: 40^6 numbers.
  std::vector<StreamerInfo> classes;
  for (int depth = 0; depth < 6; ++depth) {
    std::vector<StreamerElement> elements;
    for (int i = 0; i < 40; ++i)
      elements.push_back(object_member("m" + std::to_string(i), "C" + std::to_string(depth + 1)));
    classes.push_back(class_info("C" + std::to_string(depth), elements));
  }
  classes.push_back(class_info("C6", {member("a", kInt, "int")}));
  const auto layout = layout_of_members(classes);
  ASSERT_FALSE(layout);
  EXPECT_EQ(layout.error().kind, ErrorKind::unsupported);
}

TEST(ClassLayout, ARecordWithoutMembersHasNoColumns) {
  EXPECT_FALSE(members({class_info("Whole", {})}).shape.has_columns());
  EXPECT_TRUE(value("vector<int>").shape.has_columns());
}

TEST(ClassLayout, ClassesAreFoundByVersionChecksumOrName) {
  const StreamerInfos infos = read_infos({class_info("A", {member("x", kInt, "int")}, 1),
                                          class_info("A", {member("x", kInt, "int"), member("y", kInt, "int")}, 2)});
  EXPECT_EQ(find_class(infos, "A", 1, 0)->version, 1);
  EXPECT_EQ(find_class(infos, "A", 1, 1002)->version, 2);  // the checksum takes precedence
  EXPECT_EQ(find_class(infos, "A", 1, 77)->version, 1);
  EXPECT_EQ(find_class(infos, "A", 9, 1001)->version, 1);
  EXPECT_EQ(find_class(infos, "A", 9, 0)->version, 2);
  EXPECT_EQ(find_class(infos, "B", 1, 0), nullptr);
}

}  // namespace
}  // namespace tfile::test
