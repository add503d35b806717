// SPDX-License-Identifier: Apache-2.0
#include "streamer/layout/class_layout.h"

#include <gtest/gtest.h>

#include "format/streamer/entries_image.h"
#include "format/streamer/streamer_info_image.h"

namespace tfile {
namespace {

using namespace element_type;
using test::array_of;
using test::EntriesImage;
using test::expect_damaged;
using test::run_whole;
using test::text_of;
using Ends = std::vector<std::int64_t>;
using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;

constexpr std::uint16_t kMemberWise = 0x4000;
constexpr std::uint16_t kFrame = 9;  // version of the class TStreamerInfo in most files

StreamerElement member(const std::string& name, int type, const std::string& type_name,
                       ElementKind kind = ElementKind::basic) {
  StreamerElement element;
  element.kind = kind;
  element.name = name;
  element.type = type;
  element.type_name = type_name;
  return element;
}
StreamerElement stl(const std::string& name, const std::string& type_name) {
  return member(name, kStreamer, type_name, ElementKind::stl);
}
StreamerElement object_member(const std::string& name, const std::string& type_name) {
  return member(name, kAny, type_name, ElementKind::object_any);
}
StreamerElement base(const std::string& name, int version) {
  StreamerElement element = member(name, kBase, "BASE", ElementKind::base);
  element.base_version = version;
  return element;
}
StreamerElement counted(const std::string& name, int type, const std::string& counter,
                        const std::string& counter_class) {
  StreamerElement element = member(name, kOffsetPointer + type, "float*", ElementKind::basic_pointer);
  element.count_name = counter;
  element.count_class = counter_class;
  return element;
}
StreamerElement array(StreamerElement element, const std::vector<std::int32_t>& dimensions) {
  element.array_dim = static_cast<std::int32_t>(dimensions.size());
  element.array_length = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    element.max_index[i] = dimensions[i];
    element.array_length *= dimensions[i];
  }
  if (element.kind == ElementKind::basic || element.type >= kObject) element.type += kOffsetArray;
  return element;
}

StreamerInfo class_info(const std::string& name, std::vector<StreamerElement> elements, int version = 1) {
  StreamerInfo info;
  info.class_name = name;
  info.version = version;
  info.checksum = static_cast<std::uint32_t>(name.size() * 1000 + elements.size());
  info.elements = std::move(elements);
  return info;
}

StreamerInfos read_infos(const std::vector<StreamerInfo>& infos) {
  const auto record = test::streamer_info_record(infos, 0);
  std::vector<std::string> warnings;
  auto read = StreamerInfos::read(record.all(), 0, warnings);
  EXPECT_TRUE(warnings.empty()) << warnings.front();
  return read;
}

// The members of the first class, as in an unsplit branch.
Result<Layout> layout_of_members(const std::vector<StreamerInfo>& classes) {
  const StreamerInfos infos = read_infos(classes);
  LayoutCompiler compiler(infos);
  auto shape = compiler.members(*infos.newest(classes.front().class_name));
  if (!shape) return tl::unexpected<Error>(shape.error());
  return Layout{compiler.finish(), *std::move(shape)};
}
Layout members(const std::vector<StreamerInfo>& classes) {
  auto layout = layout_of_members(classes);
  EXPECT_TRUE(layout) << layout.error().text;
  return layout ? *std::move(layout) : Layout();
}
Layout one_member(const StreamerElement& element, std::vector<StreamerInfo> more = {}) {
  more.insert(more.begin(), class_info("Whole", {element}));
  return members(more);
}
// A value of this type as a member.
Layout value(const std::string& type, const std::vector<StreamerInfo>& classes = {}) {
  const StreamerInfos infos = read_infos(classes);
  LayoutCompiler compiler(infos);
  auto shape = compiler.value(parse_type_name(type), ValueIn::member);
  EXPECT_TRUE(shape) << shape.error().text;
  return shape ? Layout{compiler.finish(), *std::move(shape)} : Layout();
}
// A member of a split collection in a branch of its own.
Layout in_split_collection(const StreamerElement& element, const std::vector<StreamerInfo>& classes = {}) {
  const StreamerInfos infos = read_infos(classes);
  LayoutCompiler compiler(infos);
  auto shape = compiler.element_of_items(element, Op::Kind::rest);
  EXPECT_TRUE(shape) << shape.error().text;
  return shape ? Layout{compiler.finish(), *std::move(shape)} : Layout();
}

std::string reason_against(const StreamerElement& element, std::vector<StreamerInfo> more = {}) {
  more.insert(more.begin(), class_info("Whole", {element}));
  auto layout = layout_of_members(more);
  if (layout) return "";
  EXPECT_EQ(layout.error().kind, ErrorKind::unsupported);
  return layout.error().text;
}

const std::vector<StreamerInfo> kHit = {
    class_info("Hit", {member("id", kInt, "int"), stl("samples", "vector<float>")})};

void put_list(EntriesImage& image, const Ints& values) {
  image.put(static_cast<std::uint32_t>(values.size()));
  for (const std::int32_t value : values) image.put(value);
}

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

TEST(ClassLayout, VectorsOfNumbers) {
  const Layout layout = value("vector<int>");
  EntriesImage image;
  for (const Ints& values : {Ints{1, 2}, Ints{}}) {
    const std::size_t at = image.open(kFrame);
    put_list(image, values);
    image.close(at);
    image.end_entry();
  }
  const Chunk chunk = run_whole(layout.program, image.without_offsets());
  EXPECT_EQ(array_of<std::int64_t>(chunk, layout.shape.slot), (Ends{0, 2, 2}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, layout.shape.parts[0].slot), (Ints{1, 2}));
}

TEST(ClassLayout, InnerCollectionsHaveNoHeader) {
  const Layout layout = value("vector<vector<int> >");
  EntriesImage image;
  const std::size_t at = image.open(kFrame);
  image.put(std::uint32_t{2});
  put_list(image, {1, 2});
  put_list(image, {3});
  image.close(at);
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  EXPECT_EQ(array_of<std::int64_t>(chunk, layout.shape.parts[0].slot), (Ends{0, 2, 3}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, layout.shape.parts[0].parts[0].slot), (Ints{1, 2, 3}));
}

TEST(ClassLayout, VectorsOfStringsBooleansAndPackedNumbers) {
  const Layout strings = value("vector<string>");
  EntriesImage image;
  std::size_t at = image.open(kFrame);
  image.put(std::uint32_t{2});
  image.put_string("ab");
  image.put_string("");
  image.close(at);
  image.end_entry();
  const Chunk chunk = run_whole(strings.program, image.with_offsets());
  EXPECT_EQ(array_of<std::int64_t>(chunk, strings.shape.parts[0].slot), (Ends{0, 2, 2}));

  const Layout booleans = value("vector<bool>");
  EntriesImage bytes;
  at = bytes.open(kFrame);
  bytes.put(std::uint32_t{3});
  for (const int b : {1, 0, 7}) bytes.put(static_cast<std::uint8_t>(b));
  bytes.close(at);
  bytes.end_entry();
  EXPECT_EQ(array_of<std::uint8_t>(run_whole(booleans.program, bytes.with_offsets()), booleans.shape.parts[0].slot),
            (std::vector<std::uint8_t>{1, 0, 1}));

  const Layout packed = value("vector<Double32_t>");  // without a range: stored as floats
  EntriesImage floats;
  at = floats.open(kFrame);
  floats.put(std::uint32_t{1});
  floats.put(0.5f);
  floats.close(at);
  floats.end_entry();
  EXPECT_EQ(array_of<double>(run_whole(packed.program, floats.with_offsets()), packed.shape.parts[0].slot),
            (std::vector<double>{0.5}));
}

TEST(ClassLayout, VectorsOfAClassInBothForms) {
  const Layout layout = value("vector<Hit>", kHit);
  EntriesImage image;
  const std::size_t by_object = image.open(kFrame);
  image.put(std::uint32_t{1});
  const std::size_t hit = image.open(1);
  image.put(std::int32_t{7});
  const std::size_t samples = image.open(kFrame);
  put_list(image, {});
  image.close(samples);
  image.close(hit);
  image.close(by_object);
  image.end_entry();
  const std::size_t by_member = image.open(kFrame | kMemberWise);
  image.put(std::uint16_t{1});
  image.put(std::uint32_t{2});
  image.put(std::int32_t{8});
  image.put(std::int32_t{9});
  const std::size_t all_samples = image.open(kFrame);  // one header for the lists of all items
  image.put(std::uint32_t{1});
  image.put(1.5f);
  image.put(std::uint32_t{2});
  image.put(2.5f);
  image.put(3.5f);
  image.close(all_samples);
  image.close(by_member);
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  const Shape& item = layout.shape.parts[0];
  EXPECT_EQ(item.class_name, "Hit");
  EXPECT_EQ(array_of<std::int64_t>(chunk, layout.shape.slot), (Ends{0, 1, 3}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, item.parts[0].slot), (Ints{7, 8, 9}));
  EXPECT_EQ(array_of<std::int64_t>(chunk, item.parts[1].slot), (Ends{0, 0, 1, 3}));
  EXPECT_EQ(array_of<float>(chunk, item.parts[1].parts[0].slot), (Floats{1.5, 2.5, 3.5}));
}

TEST(ClassLayout, MapsInBothForms) {
  const Layout layout = value("map<string,int>");
  EntriesImage image;
  const std::size_t by_object = image.open(kFrame);
  image.put(std::uint32_t{2});
  for (const auto& [key, number] : std::vector<std::pair<const char*, int>>{{"a", 1}, {"bb", 2}}) {
    image.put_string(key);
    image.put(std::int32_t{number});
  }
  image.close(by_object);
  image.end_entry();
  const std::size_t by_member = image.open(kFrame | kMemberWise);
  image.put(std::uint16_t{0});  // a pair has no version
  image.put(std::uint32_t{0x0b5fb752});
  image.put(std::uint32_t{2});
  const std::size_t keys = image.open(kFrame);
  image.put_string("ccc");
  image.put_string("");
  image.close(keys);
  image.put(std::int32_t{3});
  image.put(std::int32_t{4});
  image.close(by_member);
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  const Shape& item = layout.shape.parts[0];
  EXPECT_EQ(item.parts[0].name, "key");
  EXPECT_EQ(item.parts[1].name, "value");
  EXPECT_EQ(text_of(chunk, item.parts[0].slot + 1), "abbccc");
  EXPECT_EQ(array_of<std::int32_t>(chunk, item.parts[1].slot), (Ints{1, 2, 3, 4}));
}

// A class that says of each enumeration in a list how long its own number is (0: not).
std::vector<StreamerInfo> with_enumerations(const std::vector<std::pair<std::string, int>>& own) {
  std::vector<StreamerElement> elements;
  for (const auto& [type, code] : own) {
    elements.push_back(stl("m" + std::to_string(elements.size()), "vector<" + type + ">"));
    elements.back().stl_content = code;
  }
  return {class_info("Whole", elements)};
}

TEST(ClassLayout, EnumerationsInListsAreAsLongAsAnInt) {
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

TEST(ClassLayout, EnumerationsElsewhereAreAsLongAsTheirNumbers) {
  const auto classes = with_enumerations({{"E", kShort}, {"B", kUChar}});
  EXPECT_EQ(value("vector<vector<E> >", classes).shape.parts[0].parts[0].dtype, Dtype::i2);
  EXPECT_EQ(value("list<B>", classes).shape.parts[0].dtype, Dtype::u1);
  EXPECT_EQ(value("deque<E>", classes).shape.parts[0].dtype, Dtype::i2);
  EXPECT_EQ(value("pair<B,E>", classes).shape.parts[0].dtype, Dtype::u1);
  EXPECT_EQ(value("set<B>", classes).shape.parts[0].dtype, Dtype::i4);
}

TEST(ClassLayout, PairsSayWhatTheirEnumerationsAre) {
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
TEST(ClassLayout, EnumerationsOfWhichROOTLosesItemsAreRefused) {
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

TEST(ClassLayout, TypesOfWhichNothingIsSaidAreEnumerationsIfTheBytesMayShowIt) {
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

// As ROOT describes them.
std::vector<StreamerInfo> array_classes() {
  return {
      class_info("Whole", {stl("m", "vector<array<int,2> >")}),
      class_info("array<int,2>", {array(member("_M_elems", kInt, "int"), {2})}),
      class_info("pair<int,array<int,2> >", {member("first", kInt, "int"), object_member("second", "array<int,2>")})};
}

TEST(ClassLayout, ArraysInAListAreNumbersOfAClass) {
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

TEST(ClassLayout, ArraysInInnerListsAreObjects) {
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

TEST(ClassLayout, ArraysInPairsAreWhatThePairSays) {
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

TEST(ClassLayout, PairsHaveAHeaderWithAChecksum) {
  const Layout layout = value("pair<int,vector<int> >");
  EntriesImage image;
  const std::size_t at = image.open(0);
  image.put(std::uint32_t{0x12345678});
  image.put(std::int32_t{1});
  const std::size_t second = image.open(kFrame);
  put_list(image, {2, 3});
  image.close(second);
  image.close(at);
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  EXPECT_EQ(layout.shape.parts[0].name, "first");
  EXPECT_EQ(array_of<std::int32_t>(chunk, layout.shape.parts[0].slot), (Ints{1}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, layout.shape.parts[1].parts[0].slot), (Ints{2, 3}));
}

TEST(ClassLayout, BitsetsAreBytesOfAShape) {
  const Layout layout = value("bitset<3>");
  EXPECT_EQ(layout.shape.shape, (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(layout.shape.dtype, Dtype::b1);
  EntriesImage image;
  const std::size_t at = image.open(kFrame);
  image.put(std::uint32_t{3});
  for (const int b : {0, 1, 1}) image.put(static_cast<std::uint8_t>(b));
  image.close(at);
  image.end_entry();
  EXPECT_EQ(array_of<std::uint8_t>(run_whole(layout.program, image.with_offsets()), 0),
            (std::vector<std::uint8_t>{0, 1, 1}));
}

TEST(ClassLayout, ArraysOfCollections) {
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

TEST(ClassLayout, ArraysOfObjectsHaveNoHeaderOfTheirOwn) {
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

TEST(ClassLayout, ArraysOfStringsAndNamedObjectsHaveOneHeader) {
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

TEST(ClassLayout, NumbersOfASplitCollectionAreNothingElse) {
  const Layout layout = in_split_collection(array(member("m", kInt, "int"), {2}));
  EntriesImage image;
  for (std::int32_t i = 0; i < 4; ++i) image.put(i);
  image.end_entry();
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  EXPECT_EQ(array_of<std::int32_t>(chunk, layout.shape.slot), (Ints{0, 1, 2, 3}));
}

TEST(ClassLayout, ListsOfASplitCollectionHaveOneHeaderForAll) {
  const Layout layout = in_split_collection(stl("m", "vector<int>"));
  EntriesImage image;
  const std::size_t at = image.open(kFrame);
  put_list(image, {1, 2});
  put_list(image, {});
  image.close(at);
  image.end_entry();
  const std::size_t none = image.open(kFrame);
  image.close(none);
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  EXPECT_EQ(array_of<std::int64_t>(chunk, layout.shape.slot), (Ends{0, 2, 2}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, layout.shape.parts[0].slot), (Ints{1, 2}));
}

TEST(ClassLayout, StringsOfASplitCollection) {
  const Layout standard = in_split_collection(member("m", kStreamer, "string", ElementKind::stl_string));
  EntriesImage image;
  const std::size_t at = image.open(kFrame);
  image.put_string("ab");
  image.put_string("c");
  image.close(at);
  image.end_entry();
  EXPECT_EQ(text_of(run_whole(standard.program, image.with_offsets()), standard.shape.slot + 1), "abc");

  const Layout own = in_split_collection(member("m", kTString, "TString", ElementKind::string));
  EntriesImage strings;
  strings.put_string("ab");
  strings.put_string("c");
  strings.end_entry();
  EXPECT_EQ(array_of<std::int64_t>(run_whole(own.program, strings.with_offsets()), own.shape.slot), (Ends{0, 2, 3}));
}

TEST(ClassLayout, MemberWiseListsOfASplitCollection) {
  const Layout layout = in_split_collection(stl("m", "vector<Hit>"), kHit);
  EntriesImage image;
  const std::size_t at = image.open(kFrame | kMemberWise);
  image.put(std::uint16_t{1});
  for (const Ints& ids : {Ints{1, 2}, Ints{}, Ints{3}}) {
    put_list(image, ids);
    if (ids.empty()) continue;
    const std::size_t samples = image.open(kFrame);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      image.put(std::uint32_t{1});
      image.put(0.5f);
    }
    image.close(samples);
  }
  image.close(at);
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  const Shape& item = layout.shape.parts[0];
  EXPECT_EQ(array_of<std::int64_t>(chunk, layout.shape.slot), (Ends{0, 2, 2, 3}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, item.parts[0].slot), (Ints{1, 2, 3}));
  EXPECT_EQ(array_of<std::int64_t>(chunk, item.parts[1].slot), (Ends{0, 1, 2, 3}));
}

TEST(ClassLayout, BitsOfReferencedObjectsInASplitCollection) {
  const Layout layout = in_split_collection(member("fBits", kBits, "unsigned int"));
  EntriesImage image;
  image.put(std::uint32_t{0x10});
  image.put(std::uint16_t{1});
  image.put(std::uint32_t{0x20});
  image.end_entry();
  EXPECT_EQ(array_of<std::uint32_t>(run_whole(layout.program, image.with_offsets()), layout.shape.slot),
            (std::vector<std::uint32_t>{0x10, 0x20}));
}

// Without a known member-wise form, a class is read object by object. Entries in the other form are refused, never
// misread. In this test, a collection inside the collection is known in both forms.
TEST(ClassLayout, AFormThatIsNotKnownIsRefused) {
  const Layout layout = value("vector<bitset<3>>");
  EntriesImage image;
  const std::size_t at = image.open(kFrame | kMemberWise);
  image.put(std::uint16_t{1});
  image.put(std::uint32_t{0});
  image.close(at);
  image.end_entry();
  expect_damaged(layout.program, image.with_offsets());
}

TEST(ClassLayout, ArraysInAMemberWiseCollectionAreCountedForEachItem) {
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

// A slot with a new object: byte count, class tag, class name, and the object with its header.
std::size_t put_new_object(EntriesImage& image, const std::string& class_name, std::int32_t number) {
  const std::size_t at = image.size();
  image.put(std::uint32_t{0});
  image.put(std::uint32_t{0xFFFFFFFF});
  for (const char c : class_name) image.put(static_cast<std::uint8_t>(c));
  image.put(std::uint8_t{0});
  const std::size_t object = image.open(1);
  image.put(number);
  image.close(object);
  image.patch(at, static_cast<std::uint32_t>(0x40000000 | (image.size() - at - 4)));
  return at;
}
void put_known_object(EntriesImage& image, std::size_t first, std::int32_t number) {
  const std::size_t at = image.size();
  image.put(std::uint32_t{0});
  image.put(static_cast<std::uint32_t>(0x80000000 | (first + 4 + 2)));
  const std::size_t object = image.open(1);
  image.put(number);
  image.close(object);
  image.patch(at, static_cast<std::uint32_t>(0x40000000 | (image.size() - at - 4)));
}

TEST(ClassLayout, APointerToOneClassIsAListOfNoneOrOne) {
  const Layout layout = value("vector<Point*>", {class_info("Point", {member("x", kInt, "int")})});
  EntriesImage image;
  for (const std::int32_t first : {1, 10}) {
    const std::size_t at = image.open(kFrame);
    image.put(std::uint32_t{4});
    const std::size_t object = put_new_object(image, "Point", first);
    image.put(std::uint32_t{0});
    put_known_object(image, object, first + 1);
    image.put(static_cast<std::uint32_t>(object + 2));  // the first object again
    image.close(at);
    image.end_entry();
  }
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  const Shape& item = layout.shape.parts[0];
  EXPECT_TRUE(item.is_optional);
  EXPECT_EQ(array_of<std::int64_t>(chunk, item.slot), (Ends{0, 1, 1, 2, 3, 4, 4, 5, 6}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, item.parts[0].parts[0].slot), (Ints{1, 2, 1, 10, 11, 10}));
}

TEST(ClassLayout, APointerToSeveralClassesHasTagsAndAnIndex) {
  const Layout layout = value(
      "vector<Point*>", {class_info("Point", {member("x", kInt, "int")}), class_info("Heir", {base("Point", 1)})});
  EntriesImage image;
  const std::size_t at = image.open(kFrame);
  image.put(std::uint32_t{4});
  const std::size_t object = put_new_object(image, "Point", 1);
  put_known_object(image, object, 2);
  image.put(std::uint32_t{0});
  image.put(static_cast<std::uint32_t>(object + 2));
  image.close(at);
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  const Shape& item = layout.shape.parts[0];
  ASSERT_EQ(item.kind, Shape::Kind::variant);
  ASSERT_EQ(item.parts.size(), 2u);
  EXPECT_EQ(array_of<std::int8_t>(chunk, item.slot), (std::vector<std::int8_t>{1, 1, 0, 1}));
  EXPECT_EQ(array_of<std::int64_t>(chunk, item.slot + 1), (Ends{0, 1, 0, 0}));  // the same object is the same item
  EXPECT_EQ(array_of<std::int32_t>(chunk, item.parts[0].parts[0].slot), (Ints{1, 2}));
}

TEST(ClassLayout, AReferenceToNoObjectIsRefused) {
  const Layout layout = value("vector<Point*>", {class_info("Point", {member("x", kInt, "int")})});
  for (const std::uint32_t reference : {std::uint32_t{1}, std::uint32_t{12}, std::uint32_t{0x3FFFFFFF}}) {
    EntriesImage image;
    const std::size_t at = image.open(kFrame);
    image.put(std::uint32_t{1});
    image.put(reference);
    image.close(at);
    image.end_entry();
    const std::vector<std::int64_t> begin(layout.program.slots.size(), 0);
    EXPECT_FALSE(run_program(layout.program, image.with_offsets(), begin, nullptr));
  }
}

// An object of a thousand bytes to which thousands of slots refer would become megabytes per kilobyte.
TEST(ClassLayout, ReferencesDoNotGrowWithoutBound) {
  StreamerElement large = array(member("x", kInt, "int"), {1000});
  const Layout layout = value("vector<Point*>", {class_info("Point", {large})});
  EntriesImage image;
  const std::size_t at = image.open(kFrame);
  image.put(std::uint32_t{20'001});
  const std::size_t slot = image.size();
  image.put(std::uint32_t{0});
  image.put(std::uint32_t{0xFFFFFFFF});
  for (const char c : std::string("Point")) image.put(static_cast<std::uint8_t>(c));
  image.put(std::uint8_t{0});
  const std::size_t object = image.open(1);
  for (std::int32_t i = 0; i < 1000; ++i) image.put(i);
  image.close(object);
  image.patch(slot, static_cast<std::uint32_t>(0x40000000 | (image.size() - slot - 4)));
  for (int i = 0; i < 20'000; ++i) image.put(static_cast<std::uint32_t>(slot + 2));
  image.close(at);
  image.end_entry();
  expect_damaged(layout.program, image.with_offsets());
}

TEST(ClassLayout, APointerWithinItsOwnClassIsBytes) {
  const Layout layout = members({class_info(
      "Whole", {member("x", kInt, "int"), member("next", kObjectP, "Whole*", ElementKind::object_pointer)})});
  const Shape& next = layout.shape.parts[1];
  ASSERT_EQ(next.kind, Shape::Kind::variant);
  ASSERT_EQ(next.parts.size(), 1u);
  EXPECT_EQ(next.parts[0].kind, Shape::Kind::raw);
  EXPECT_NE(next.parts[0].reason, "");
}

TEST(ClassLayout, ClassesOfUnknownPointersAreFoundInTheEntries) {
  const StreamerInfos infos = read_infos({class_info("Point", {member("x", kInt, "int")})});
  EntriesImage image;
  put_new_object(image, "Point", 7);
  image.end_entry();
  image.put(std::uint32_t{0});
  image.end_entry();
  LayoutCompiler first(infos);
  ASSERT_TRUE(first.value(parse_type_name("TObject*"), ValueIn::member));
  const FoundClasses found = find_classes(first.finish(), image.with_offsets());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.begin()->second, (std::set<std::string>{"Point"}));
  LayoutCompiler second(infos, &found);
  const auto shape = second.value(parse_type_name("TObject*"), ValueIn::member);
  ASSERT_TRUE(shape);
  ASSERT_EQ(shape->parts.size(), 2u);
  EXPECT_EQ(shape->parts[0].name, "Point");
  EXPECT_EQ(shape->parts[1].name, "other");
  const Chunk chunk = run_whole(second.finish(), image.with_offsets());
  EXPECT_EQ(array_of<std::int8_t>(chunk, shape->slot), (std::vector<std::int8_t>{1, 0}));
  EXPECT_EQ(array_of<std::int32_t>(chunk, shape->parts[0].parts[0].slot), (Ints{7}));
}

TEST(ClassLayout, AnItemOfAClassThatNobodyDescribesIsRefused) {
  const Layout layout = value("vector<Unknown>");
  EntriesImage empty;
  const std::size_t at = empty.open(kFrame);
  empty.put(std::uint32_t{0});
  empty.close(at);
  empty.end_entry();
  EXPECT_EQ(array_of<std::int64_t>(run_whole(layout.program, empty.with_offsets()), layout.shape.slot), (Ends{0, 0}));
  EntriesImage image;
  const std::size_t one = image.open(kFrame);
  image.put(std::uint32_t{1});
  image.put(std::uint64_t{0});
  image.close(one);
  image.end_entry();
  const std::vector<std::int64_t> begin(layout.program.slots.size(), 0);
  const auto chunk = run_program(layout.program, image.with_offsets(), begin, nullptr);
  ASSERT_FALSE(chunk);
  EXPECT_EQ(chunk.error().kind, ErrorKind::unsupported);
  EXPECT_NE(chunk.error().text.find("Unknown"), std::string::npos);
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
}  // namespace tfile
