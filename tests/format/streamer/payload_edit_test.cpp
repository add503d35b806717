// SPDX-License-Identifier: Apache-2.0
#include "streamer/walk/payload_edit.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "format/streamer/object_image.h"
#include "format/streamer/streamer_info_image.h"

namespace tfile {
namespace {

using test::ObjectImage;

constexpr std::uint32_t kKeylenOfWhole = 40, kKeylenOfOther = 77;
// From the start of a TObjArray to the number of its items: byte count, version, TObject, and a name without letters.
constexpr std::size_t kToCount = 4 + 2 + 10 + 1;

StreamerElement pointer_to_part(std::string name) {
  StreamerElement element;
  element.kind = ElementKind::object_pointer;
  element.type = element_type::kObjectP;
  element.name = std::move(name);
  element.type_name = "Part*";
  return element;
}

// A Pair points to two Parts, or to one Part twice.
class PayloadEdit : public testing::Test {
 protected:
  void SetUp() override {
    StreamerInfo part, pair;
    part.class_name = "Part";
    pair.class_name = "Pair";
    part.version = pair.version = 1;
    StreamerElement value;
    value.kind = ElementKind::basic;
    value.type = element_type::kInt;
    value.name = "value";
    value.type_name = "int";
    part.elements = {value};
    pair.elements = {pointer_to_part("first"), pointer_to_part("second")};
    std::vector<std::string> warnings;
    infos_ = StreamerInfos::read(test::streamer_info_record(std::vector{part, pair}, 0).all(), 0, warnings);
    ASSERT_TRUE(warnings.empty()) << warnings[0];
  }

  static std::size_t put_part(ObjectImage& image, std::int32_t value) {
    const std::size_t slot = image.open_object("Part"), own = image.open(1);
    image.put(value);
    image.close(own);
    image.close(slot);
    return slot;
  }

  static void put_pair(ObjectImage& image, std::int32_t value) {
    const std::size_t slot = image.open_object("Pair"), own = image.open(1);
    image.reference(image.identity(put_part(image, value)));
    image.close(own);
    image.close(slot);
  }

  // An array with an array of Pairs, and a Part behind it.
  struct Nested {
    ObjectImage image{kKeylenOfWhole};
    std::size_t count_at = 0, items_end = 0;
  };
  static Nested nested(const std::vector<std::int32_t>& pairs) {
    Nested made;
    const std::size_t outer = made.image.open_array(2), slot = made.image.open_object("TObjArray");
    const std::size_t inner = made.image.open_array(static_cast<std::int32_t>(pairs.size()));
    made.count_at = inner + kToCount;
    for (const std::int32_t value : pairs) put_pair(made.image, value);
    made.items_end = made.image.size();
    made.image.close(inner);
    made.image.close(slot);
    put_part(made.image, 5);
    made.image.close(outer);
    return made;
  }

  Result<PayloadPlaces> places_of(const ObjectImage& image) {
    payloads_.push_back(image.all());
    return PayloadPlaces::read(infos_, "TObjArray", payloads_.back(), image.origin());
  }

  StreamerInfos infos_;
  std::deque<std::vector<std::byte>> payloads_;
};

TEST_F(PayloadEdit, AnObjectOfAnotherPayloadIsAppendedWithItsClassesAndReferences) {
  const Nested whole = nested({1, 2}), wanted = nested({1, 2, 3});
  ObjectImage other(kKeylenOfOther);
  const std::size_t array = other.open_array(2);
  put_part(other, 9);  // its class has a name only here
  const std::size_t begin = other.size();
  put_pair(other, 3);
  other.close(array);
  const auto places = places_of(whole.image), other_places = places_of(other);
  ASSERT_TRUE(places && other_places);
  EXPECT_EQ(other_places->end_of_slot(begin), other.size());
  const std::vector<std::byte> three{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{3}};
  const std::vector<PayloadChange> changes{
      {whole.count_at, whole.count_at + three.size(), {{three}}},
      {whole.items_end, whole.items_end, {{other_places->payload().subspan(begin), &*other_places}}, whole.count_at}};
  const auto changed = change_payload(*places, changes);
  ASSERT_TRUE(changed) << changed.error().text;
  const auto expected = wanted.image.all();
  EXPECT_TRUE(std::ranges::equal(*changed, expected));
}

TEST_F(PayloadEdit, WithoutChangesAllStays) {
  const Nested whole = nested({1, 2, 3});
  const auto places = places_of(whole.image);
  ASSERT_TRUE(places);
  const auto same = change_payload(*places, {});
  ASSERT_TRUE(same);
  const auto bytes = whole.image.all();
  EXPECT_TRUE(std::ranges::equal(*same, bytes));
}

TEST_F(PayloadEdit, WhatOthersReferToCannotGo) {
  ObjectImage image(kKeylenOfWhole);
  const std::size_t array = image.open_array(2);
  const std::size_t part = put_part(image, 1), end = image.size();
  image.reference(image.identity(part));
  image.close(array);
  const auto places = places_of(image);
  ASSERT_TRUE(places);
  const std::vector<std::byte> null(4);
  const auto changed = change_payload(*places, std::vector<PayloadChange>{{part, end, {{null}}}});
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().kind, ErrorKind::unsupported);
}

TEST_F(PayloadEdit, WhatRefersToOthersIsNotTakenWithoutThem) {
  const Nested whole = nested({1});
  ObjectImage other(kKeylenOfOther);
  const std::size_t array = other.open_array(2);
  const std::size_t part = put_part(other, 1), begin = other.size();
  other.reference(other.identity(part));
  other.close(array);
  const auto places = places_of(whole.image), other_places = places_of(other);
  ASSERT_TRUE(places && other_places);
  const PayloadChange change{
      whole.items_end, whole.items_end, {{other_places->payload().subspan(begin), &*other_places}}, whole.count_at};
  const auto changed = change_payload(*places, std::vector{change});
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().kind, ErrorKind::unsupported);
}

TEST_F(PayloadEdit, ChangesAreAtTheBoundsOfWhatIsCounted) {
  const Nested whole = nested({1, 2});
  const auto places = places_of(whole.image);
  ASSERT_TRUE(places);
  const std::vector<std::byte> more(8);
  // It begins in a Pair, and ends behind it.
  const PayloadChange across{whole.items_end - 2, whole.items_end + 4, {{more}}};
  EXPECT_FALSE(change_payload(*places, std::vector{across}));
  const std::size_t size = whole.image.size();
  EXPECT_FALSE(change_payload(*places, std::vector<PayloadChange>{{size + 1, size + 1, {{more}}}}));
  const std::vector<PayloadChange> backward{{30, 30, {{more}}}, {20, 20, {{more}}}};
  EXPECT_FALSE(change_payload(*places, backward));
}

}  // namespace
}  // namespace tfile
