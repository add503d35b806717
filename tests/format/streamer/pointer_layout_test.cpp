// SPDX-License-Identifier: Apache-2.0
#include "format/streamer/described_class.h"

namespace tfile::test {
namespace {

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

TEST(PointerLayout, APointerToOneClassIsAListOfNoneOrOne) {
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

TEST(PointerLayout, APointerToSeveralClassesHasTagsAndAnIndex) {
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

TEST(PointerLayout, AReferenceToNoObjectIsRefused) {
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
TEST(PointerLayout, ReferencesDoNotGrowWithoutBound) {
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

TEST(PointerLayout, APointerWithinItsOwnClassIsBytes) {
  const Layout layout = members({class_info(
      "Whole", {member("x", kInt, "int"), member("next", kObjectP, "Whole*", ElementKind::object_pointer)})});
  const Shape& next = layout.shape.parts[1];
  ASSERT_EQ(next.kind, Shape::Kind::variant);
  ASSERT_EQ(next.parts.size(), 1u);
  EXPECT_EQ(next.parts[0].kind, Shape::Kind::raw);
  EXPECT_NE(next.parts[0].reason, "");
}

TEST(PointerLayout, ClassesOfUnknownPointersAreFoundInTheEntries) {
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

TEST(PointerLayout, AnItemOfAClassThatNobodyDescribesIsRefused) {
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

}  // namespace
}  // namespace tfile::test
