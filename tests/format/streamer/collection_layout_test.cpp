// SPDX-License-Identifier: Apache-2.0
#include "format/streamer/described_class.h"

namespace tfile::test {
namespace {

TEST(CollectionLayout, VectorsOfNumbers) {
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

TEST(CollectionLayout, InnerCollectionsHaveNoHeader) {
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

TEST(CollectionLayout, VectorsOfStringsBooleansAndPackedNumbers) {
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

TEST(CollectionLayout, VectorsOfAClassInBothForms) {
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

TEST(CollectionLayout, MapsInBothForms) {
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

TEST(CollectionLayout, PairsHaveAHeaderWithAChecksum) {
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

TEST(CollectionLayout, BitsetsAreBytesOfAShape) {
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

TEST(CollectionLayout, NumbersOfASplitCollectionAreNothingElse) {
  const Layout layout = in_split_collection(array(member("m", kInt, "int"), {2}));
  EntriesImage image;
  for (std::int32_t i = 0; i < 4; ++i) image.put(i);
  image.end_entry();
  image.end_entry();
  const Chunk chunk = run_whole(layout.program, image.with_offsets());
  EXPECT_EQ(array_of<std::int32_t>(chunk, layout.shape.slot), (Ints{0, 1, 2, 3}));
}

TEST(CollectionLayout, ListsOfASplitCollectionHaveOneHeaderForAll) {
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

TEST(CollectionLayout, StringsOfASplitCollection) {
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

TEST(CollectionLayout, MemberWiseListsOfASplitCollection) {
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

TEST(CollectionLayout, BitsOfReferencedObjectsInASplitCollection) {
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
TEST(CollectionLayout, AFormThatIsNotKnownIsRefused) {
  const Layout layout = value("vector<bitset<3>>");
  EntriesImage image;
  const std::size_t at = image.open(kFrame | kMemberWise);
  image.put(std::uint16_t{1});
  image.put(std::uint32_t{0});
  image.close(at);
  image.end_entry();
  expect_damaged(layout.program, image.with_offsets());
}

}  // namespace
}  // namespace tfile::test
