// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/known_descriptions.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "format/streamer/streamer_info_image.h"

namespace tfile {
namespace {

using Names = std::vector<std::string>;

StreamerElement known_element(ElementKind kind, const std::string& name, int type, const std::string& type_name) {
  StreamerElement made;
  made.kind = kind;
  made.name = name;
  made.type = type;
  made.type_name = type_name;
  return made;
}

// "Hit" has numbers; "Track" holds hits, "Event" a base and a pointer to anything.
std::vector<StreamerInfo> classes() {
  StreamerElement list = known_element(ElementKind::stl, "hits", element_type::kStl, "vector<Hit>");
  StreamerElement packed = known_element(ElementKind::basic, "packed", element_type::kDouble32, "Double32_t");
  packed.title = "[0,1000,16]";
  StreamerElement base = known_element(ElementKind::base, "Track", element_type::kBase, "BASE");
  base.base_version = 1;
  return {{"Hit", 1, 2, {known_element(ElementKind::basic, "x", element_type::kUInt, "UInt_t"), packed}},
          {"Track", 2, 1, {list, known_element(ElementKind::basic, "n", element_type::kInt, "Int_t")}},
          {"Event", 3, 1, {base}},
          {"Any", 4, 1, {known_element(ElementKind::object_pointer, "any", element_type::kObjectP, "TObject*")}},
          {"Alone", 5, 1, {known_element(ElementKind::basic, "n", element_type::kInt, "Int_t")}}};
}

std::shared_ptr<const StreamerInfos> infos(const std::vector<StreamerInfo>& described) {
  std::vector<std::string> warnings;
  return std::make_shared<const StreamerInfos>(
      StreamerInfos::read(test::streamer_info_record(described, 0).all(), 0, warnings));
}

Names contradicted(const std::function<void(std::vector<StreamerInfo>&)>& change) {
  KnownDescriptions known;
  known.take(infos(classes()));
  std::vector<StreamerInfo> others = classes();
  change(others);
  return known.contradicted_by(*infos(others));
}

TEST(KnownDescriptions, WhatBytesRestOnIsCompared) {
  EXPECT_EQ(contradicted([](auto&) {}), Names());
  EXPECT_EQ(contradicted([](auto& all) { all[0].elements[0].type = element_type::kInt; }), Names{"Hit"});
  EXPECT_EQ(contradicted([](auto& all) { std::swap(all[0].elements[0], all[0].elements[1]); }), Names{"Hit"});
  EXPECT_EQ(contradicted([](auto& all) { all[0].elements[1].title = "[0,5000,16]"; }), Names{"Hit"});
  EXPECT_EQ(contradicted([](auto& all) { all[1].elements.pop_back(); }), Names{"Track"});
  EXPECT_EQ(contradicted([](auto& all) { all[1].elements[0].type_name = "list<Hit>"; }), Names{"Track"});
  EXPECT_EQ(contradicted([](auto& all) { all[2].elements[0].base_version = 2; }), Names{"Event"});
}

TEST(KnownDescriptions, WhatTheyDoNotIsNot) {
  EXPECT_EQ(contradicted([](auto& all) { all[0].checksum = 77; }), Names());
  EXPECT_EQ(contradicted([](auto& all) { all[0].elements[0].title = "another comment"; }), Names());
  EXPECT_EQ(contradicted([](auto& all) { all[0].elements[0].type_name = "unsigned int"; }), Names());
  EXPECT_EQ(contradicted([](auto& all) { all[1].elements[0].type_name = "std::vector<Hit>"; }), Names());
  EXPECT_EQ(contradicted([](auto& all) {
              all[0].version = 3;
              all[0].elements.pop_back();
            }),
            Names());
}

TEST(KnownDescriptions, EachFileIsRemembered) {
  KnownDescriptions known;
  std::vector<StreamerInfo> second = classes();
  second[0].version = 3;
  second[0].elements.pop_back();
  known.take(infos(classes()));
  known.take(infos(second));
  second[0].elements.clear();
  EXPECT_EQ(known.contradicted_by(*infos(second)), Names{"Hit"});
}

TEST(KnownDescriptions, WhichTypesMayHoldAClass) {
  const auto all = infos(classes());
  const Names hit{"Hit"};
  for (const std::string type : {"Hit", "vector<Hit>", "map<int,vector<Hit> >", "Track", "Event", "Any", "TClonesArray",
                                 "unique_ptr<Alone>", "Alone*"})
    EXPECT_TRUE(may_hold(*all, std::vector{type}, hit)) << type;
  for (const std::string type : {"Alone", "vector<Alone>", "vector<int>", "string", "Unknown"})
    EXPECT_FALSE(may_hold(*all, std::vector{type}, hit)) << type;
  EXPECT_FALSE(may_hold(*all, hit, {}));
}

}  // namespace
}  // namespace tfile
