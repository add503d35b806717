// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/streamer_info.h"

#include <gtest/gtest.h>

#include "format/streamer/streamer_info_image.h"

namespace tfile {
namespace {

using test::ObjectImage;

StreamerElement element(ElementKind kind, const std::string& name, int type, const std::string& type_name) {
  StreamerElement e;
  e.kind = kind;
  e.name = name;
  e.title = "title of " + name;
  e.type = type;
  e.type_name = type_name;
  e.size = 8;
  return e;
}

// A class with one element of every kind.
StreamerInfo sample(const std::string& name = "Event", std::int32_t version = 3) {
  StreamerInfo info;
  info.class_name = name;
  info.version = version;
  info.checksum = 0xDEADBEEF;
  auto& list = info.elements;
  list.push_back(element(ElementKind::base, "TObject", 66, "BASE"));
  list.back().base_version = 1;
  list.back().max_index[1] = static_cast<std::int32_t>(0x901BC02D);
  list.back().base_checksum = 0x901BC02D;
  list.push_back(element(ElementKind::basic, "n", 6, "int"));
  list.push_back(element(ElementKind::basic, "matrix", 25, "float"));
  list.back().array_length = 6;
  list.back().array_dim = 2;
  list.back().max_index = {2, 3, 0, 0, 0};
  list.push_back(element(ElementKind::basic_pointer, "items", 45, "float*"));
  list.back().count_version = version;
  list.back().count_name = "n";
  list.back().count_class = name;
  list.push_back(element(ElementKind::loop, "loop", 501, "Obj*"));
  list.back().count_name = "n";
  list.push_back(element(ElementKind::object, "hits", 61, "TObjArray"));
  list.push_back(element(ElementKind::object_any, "pod", 62, "Pod"));
  list.push_back(element(ElementKind::object_pointer, "next", 64, "Event*"));
  list.push_back(element(ElementKind::object_any_pointer, "any", 69, "Pod*"));
  list.push_back(element(ElementKind::string, "label", 65, "TString"));
  list.push_back(element(ElementKind::stl, "numbers", 500, "vector<float>"));
  list.back().stl_type = 1;
  list.back().stl_content = 5;
  list.push_back(element(ElementKind::stl_string, "text", 500, "string"));
  list.back().stl_type = 365;
  list.back().stl_content = 365;
  list.push_back(element(ElementKind::artificial, "rule", 1001, "int"));
  return info;
}

void expect_equal(const StreamerInfo& got, const StreamerInfo& expected) {
  EXPECT_EQ(got.class_name, expected.class_name);
  EXPECT_EQ(got.version, expected.version);
  EXPECT_EQ(got.checksum, expected.checksum);
  ASSERT_EQ(got.elements.size(), expected.elements.size());
  for (std::size_t i = 0; i < expected.elements.size(); ++i) {
    const StreamerElement& a = got.elements[i];
    const StreamerElement& b = expected.elements[i];
    EXPECT_EQ(a.kind, b.kind) << b.name;
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.title, b.title);
    EXPECT_EQ(a.type, b.type) << b.name;
    EXPECT_EQ(a.type_name, b.type_name);
    EXPECT_EQ(a.size, b.size);
    EXPECT_EQ(a.array_length, b.array_length);
    EXPECT_EQ(a.array_dim, b.array_dim);
    EXPECT_EQ(a.max_index, b.max_index) << b.name;
    EXPECT_EQ(a.base_version, b.base_version) << b.name;
    EXPECT_EQ(a.base_checksum, b.base_checksum) << b.name;
    EXPECT_EQ(a.count_name, b.count_name);
    EXPECT_EQ(a.count_class, b.count_class);
    EXPECT_EQ(a.stl_type, b.stl_type) << b.name;
    EXPECT_EQ(a.stl_content, b.stl_content) << b.name;
  }
}

class ElementVersions : public testing::TestWithParam<std::uint16_t> {};

TEST_P(ElementVersions, EveryKindOfElement) {
  StreamerInfo expected = sample();
  const StreamerInfo other = sample("Other", 1);
  const ObjectImage image = test::streamer_info_record(std::vector{expected, other}, 64, GetParam());
  std::vector<std::string> warnings;
  const StreamerInfos infos = StreamerInfos::read(image.all(), 64, warnings);
  EXPECT_TRUE(warnings.empty()) << warnings.front();
  ASSERT_EQ(infos.from_file().size(), 2u);
  if (GetParam() == 1) expected.elements[0].base_version = 0;  // version 1 does not have it
  expect_equal(*infos.from_file()[0], expected);
  EXPECT_EQ(infos.from_file()[1]->class_name, "Other");
}

INSTANTIATE_TEST_SUITE_P(All, ElementVersions, testing::Values(1, 2, 3, 4));

TEST(StreamerInfo, FindsByVersionAndChecksum) {
  std::vector<StreamerInfo> classes{sample("Event", 3), sample("Event", 5), sample("Event", 4), sample("TBranch", 13)};
  classes[1].checksum = 55;
  const ObjectImage image = test::streamer_info_record(classes, 0);
  std::vector<std::string> warnings;
  const StreamerInfos infos = StreamerInfos::read(image.all(), 0, warnings);
  EXPECT_EQ(infos.find("Event", 4), infos.from_file()[2].get());
  EXPECT_EQ(infos.find("Event", 6), nullptr);
  EXPECT_EQ(infos.find("Nothing", 1), nullptr);
  EXPECT_EQ(infos.newest("Event"), infos.from_file()[1].get());
  EXPECT_EQ(infos.newest("Nothing"), nullptr);
  EXPECT_EQ(infos.find_by_checksum("Event", 55), infos.from_file()[1].get());
  EXPECT_EQ(infos.find_by_checksum("Event", 56), nullptr);
  // The file's own descriptions take precedence over the built-in ones.
  EXPECT_EQ(infos.find("TBranch", 13), infos.from_file()[3].get());
  EXPECT_EQ(infos.newest("TBranch"), infos.from_file()[3].get());
}

TEST(StreamerInfo, OldFilesCallBoolUnsignedChar) {
  StreamerInfo info;
  info.class_name = "Old";
  info.elements = {element(ElementKind::basic, "a", 11, "Bool_t"), element(ElementKind::basic, "b", 31, "bool"),
                   element(ElementKind::basic, "c", 11, "UChar_t")};
  std::vector<std::string> warnings;
  const StreamerInfos infos =
      StreamerInfos::read(test::streamer_info_record(std::vector{info}, 0, 2).all(), 0, warnings);
  EXPECT_EQ(infos.from_file()[0]->elements[0].type, 18);
  EXPECT_EQ(infos.from_file()[0]->elements[1].type, 38);
  EXPECT_EQ(infos.from_file()[0]->elements[2].type, 11);
}

TEST(StreamerInfo, SetAndMultimapAreToldByName) {
  StreamerInfo info;
  info.class_name = "Old";
  info.elements = {element(ElementKind::stl, "a", 500, "set<int>"),
                   element(ElementKind::stl, "b", 500, "multimap<int,int>")};
  info.elements[0].stl_type = 5;
  info.elements[1].stl_type = 6;
  std::vector<std::string> warnings;
  const StreamerInfos infos = StreamerInfos::read(test::streamer_info_record(std::vector{info}, 0).all(), 0, warnings);
  EXPECT_EQ(infos.from_file()[0]->elements[0].stl_type, 6);
  EXPECT_EQ(infos.from_file()[0]->elements[1].stl_type, 5);
}

TEST(StreamerInfo, SkipsOtherObjectsOfTheList) {
  ObjectImage image;
  const std::size_t list = image.open(5);
  image.tobject();
  image.put_string("");
  image.put(std::int32_t{3});
  test::put_info(image, sample("A", 1), 4);
  const std::size_t rules = image.open_object("TList");
  image.put_text("anything at all");
  image.close(rules);
  image.put_string("");
  test::put_info(image, sample("B", 1), 4);
  image.close(list);
  std::vector<std::string> warnings;
  const StreamerInfos infos = StreamerInfos::read(image.all(), 0, warnings);
  EXPECT_TRUE(warnings.empty());
  ASSERT_EQ(infos.from_file().size(), 2u);
  EXPECT_EQ(infos.from_file()[1]->class_name, "B");
}

TEST(StreamerInfo, OldListWithoutOptions) {
  ObjectImage image;
  const std::size_t list = image.open(3);
  image.tobject();
  image.put_string("");
  image.put(std::int32_t{1});
  test::put_info(image, sample("A", 1), 2);
  image.all().pop_back();  // the option
  image.close(list);
  std::vector<std::string> warnings;
  EXPECT_EQ(StreamerInfos::read(image.all(), 0, warnings).from_file().size(), 1u);
  EXPECT_TRUE(warnings.empty());
}

TEST(StreamerInfo, DamagedElementKeepsItsPlace) {
  ObjectImage image = test::streamer_info_record(std::vector{sample("A", 1), sample("B", 1)}, 0);
  // The byte count of the object that contains fTypeName: TStreamerElement of "matrix", 4 + 6 bytes before its TNamed.
  const std::string_view text(reinterpret_cast<const char*>(image.all().data()), image.size());
  const std::size_t name = text.find("\x06matrix");
  image.patch(name - 6 - 10 - 6, std::uint32_t{0x40000000 | 3});
  std::vector<std::string> warnings;
  const StreamerInfos infos = StreamerInfos::read(image.all(), 0, warnings);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("element 2"), std::string::npos) << warnings[0];
  ASSERT_EQ(infos.from_file().size(), 2u);
  const auto& elements = infos.from_file()[0]->elements;
  ASSERT_EQ(elements.size(), sample().elements.size());
  EXPECT_EQ(elements[2].kind, ElementKind::unknown);
  EXPECT_EQ(elements[3].name, "items");
  expect_equal(*infos.from_file()[1], sample("B", 1));
}

TEST(StreamerInfo, EveryPrefixAndFlippedByteIsSurvived) {
  const ObjectImage image = test::streamer_info_record(std::vector{sample("A", 1), sample("B", 1)}, 0);
  for (std::size_t size = 0; size < image.size(); ++size) {
    std::vector<std::string> warnings;
    const std::vector<std::byte> cut(image.all().begin(), image.all().begin() + static_cast<std::ptrdiff_t>(size));
    StreamerInfos::read(cut, 0, warnings);
    EXPECT_EQ(warnings.empty(), size == 0) << size;
  }
  for (std::size_t i = 0; i < image.size(); ++i) {
    for (const int value : {0x00, 0x7f, 0xff}) {
      std::vector<std::byte> flipped = image.all();
      flipped[i] = static_cast<std::byte>(value);
      std::vector<std::string> warnings;
      EXPECT_LE(StreamerInfos::read(flipped, 0, warnings).from_file().size(), 2u);
    }
  }
}

TEST(BuiltinStreamerInfos, KnowROOTsOwnClasses) {
  std::vector<std::string> warnings;
  const StreamerInfos infos = StreamerInfos::read({}, 0, warnings);
  EXPECT_TRUE(warnings.empty());
  EXPECT_TRUE(infos.from_file().empty());
  const StreamerInfo* tree = infos.find("TTree", 20);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->elements.size(), 33u);
  EXPECT_EQ(tree->elements[0].kind, ElementKind::base);
  EXPECT_EQ(tree->elements[0].type, element_type::kTNamed);
  EXPECT_EQ(tree->elements[0].base_version, 1);
  for (const StreamerElement& e : tree->elements) {
    if (e.name == "fClusterSize") {
      EXPECT_EQ(e.kind, ElementKind::basic_pointer);
      EXPECT_EQ(e.type, element_type::kOffsetPointer + element_type::kLong64);
      EXPECT_EQ(e.count_name, "fNClusterRange");
      EXPECT_EQ(e.count_class, "TTree");
    }
    if (e.name == "fNClusterRange") {
      EXPECT_EQ(e.type, element_type::kCounter);
    }
    if (e.name == "fBranches") {
      EXPECT_EQ(e.kind, ElementKind::object);
    }
    if (e.name == "fUserInfo") {
      EXPECT_EQ(e.type_name, "TList*");
    }
  }
  const StreamerInfo* features = infos.find_by_checksum("ROOT::TIOFeatures", 0x1aa12f10);
  ASSERT_TRUE(features);
  EXPECT_EQ(features->elements.at(0).type, element_type::kUChar);
  const StreamerInfo* particle = infos.find("TParticle", 2);
  ASSERT_TRUE(particle);
  EXPECT_EQ(particle->elements.at(5).name, "fMother");
  EXPECT_EQ(particle->elements.at(5).type, element_type::kOffsetArray + element_type::kInt);
  EXPECT_EQ(particle->elements.at(5).array_length, 2);
  EXPECT_EQ(particle->elements.at(5).max_index[0], 2);
}

TEST(BuiltinStreamerInfos, AreWhole) {
  std::vector<std::string> warnings;
  const StreamerInfos infos = StreamerInfos::read({}, 0, warnings);
  for (const StreamerInfo& info : builtin_streamer_infos()) {
    EXPECT_EQ(infos.find(info.class_name, info.version), &info) << info.class_name << " twice";
    for (const StreamerElement& e : info.elements) {
      EXPECT_FALSE(e.name.empty()) << info.class_name;
      EXPECT_NE(e.type, -1) << info.class_name << " " << e.name;
      EXPECT_EQ(e.name.find_first_of(" ;,[]\n"), std::string::npos) << info.class_name << " " << e.name;
      if (e.kind == ElementKind::base) {
        // A class with a hand-written streamer is known by its name and a tilde; those of RooFit are in each file.
        const bool is_known = infos.newest(e.name) || infos.newest(e.name + "~") || e.name.starts_with("Roo");
        EXPECT_TRUE(is_known) << info.class_name << " " << e.name;
      }
    }
  }
}

}  // namespace
}  // namespace tfile
