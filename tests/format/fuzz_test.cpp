// SPDX-License-Identifier: Apache-2.0
// Runs the bodies of the fuzz targets on seeds made here, so that fuzzers and tests cannot drift apart.
#include <gtest/gtest.h>

#include <random>

#include "format/container/file_image.h"
#include "format/ntuple/ntuple_kinds.h"
#include "format/streamer/streamer_info_image.h"
#include "fuzz/answer_body.h"
#include "fuzz/basket_body.h"
#include "fuzz/expression_body.h"
#include "fuzz/ntuple_body.h"
#include "fuzz/object_body.h"
#include "fuzz/open_body.h"
#include "fuzz/page_body.h"
#include "fuzz/program_body.h"

namespace tfile {
namespace {

using test::Bytes;
using test::FileImage;

std::vector<std::byte> file_seed(bool big) {
  FileImage image({.big_header = big, .big_keys = big});
  auto sub = image.add_directory(image.root, "sub");
  image.add_object(image.root, "TNamed", "n/m", "content");
  image.add_object(image.root, "TTree", ".t", "no tree");
  image.add_object(image.root, "ROOT::RNTuple", "", std::string(78, 'r'));
  image.add_gap(30);
  image.add_object(sub, "TObjString", "s", "text");
  image.finish_directory(sub);
  return image.finish();
}

// A basket of three entries of 8 bytes with a table of offsets.
std::vector<std::byte> basket_seed() {
  const std::int32_t keylen = 34 + 12 + 19;  // fixed part, strings, the fields of a basket
  Bytes out;
  out.put(std::int32_t{0});  // fNbytes
  out.put(std::int16_t{1004});
  out.put(std::int32_t{24 + 4 + 4 * 4});
  out.put(std::uint32_t{0});
  out.put(static_cast<std::int16_t>(keylen));
  out.put(std::int16_t{0});
  out.put(std::int64_t{300});
  out.put(std::int64_t{100});
  out.put_string("TBasket");
  out.put_string("b");
  out.put_string("t");
  out.put(std::int16_t{3});
  out.put(std::int32_t{32000});
  out.put(std::int32_t{1000});
  out.put(std::int32_t{3});
  out.put(std::int32_t{keylen + 24});
  out.put(std::uint8_t{0});
  EXPECT_EQ(out.size(), static_cast<std::size_t>(keylen));
  out.patch_space(24);
  out.put(std::int32_t{4});
  for (const std::int32_t offset : {keylen, keylen + 8, keylen + 16, 0}) out.put(offset);
  out.patch(0, static_cast<std::int32_t>(out.size()));
  return out.all();
}

// Two classes, one with a pointer to the other, and a vector of such pointers.
std::vector<std::byte> program_seed() {
  const auto element = [](const char* name, int type, const char* type_name, ElementKind kind) {
    StreamerElement e;
    e.name = name;
    e.type = type;
    e.type_name = type_name;
    e.kind = kind;
    return e;
  };
  StreamerInfo hit, owner;
  hit.class_name = "Hit";
  owner.class_name = "Owner";
  hit.version = owner.version = 1;
  hit.elements = {element("id", element_type::kInt, "int", ElementKind::basic)};
  owner.elements = {element("hit", element_type::kAnyP, "Hit*", ElementKind::object_any_pointer),
                    element("hits", element_type::kStreamer, "vector<Hit*>", ElementKind::stl)};
  const auto image = test::streamer_info_record(std::vector<StreamerInfo>{hit, owner}, 0);
  const auto record = image.all();
  Bytes out;
  out.put(static_cast<std::uint32_t>(record.size()));
  for (const std::byte b : record) out.put(static_cast<std::uint8_t>(b));
  out.put(std::uint8_t{1});
  for (int entry = 0; entry < 2; ++entry) {
    for (const std::uint32_t word : std::initializer_list<std::uint32_t>{
             0x4000000cu + 4, 10u << 16 | 0u, 2u << 16 | 0x4000u, 0x12u << 16 | 0xFFFFu, 0xFFFF4869u, 0x74004000u,
             0x00060001u, 0x00000007u, 0u, 0u})
      out.put(word);
  }
  return out.all();
}

// An object of a class that the record describes: a list with a named object and a reference to that object, and a
// vector of pairs.
std::vector<std::byte> object_seed() {
  StreamerElement list;
  list.kind = ElementKind::object;
  list.type = element_type::kObject;
  list.name = "list";
  list.type_name = "TList";
  StreamerElement items = list;
  items.kind = ElementKind::stl;
  items.type = element_type::kStreamer;
  items.stl_type = 1;
  items.name = "items";
  items.type_name = "vector<pair<int,string> >";
  StreamerInfo info;
  info.class_name = "Mine";
  info.version = 1;
  info.elements = {list, items};
  constexpr std::uint8_t kKeylen = 50;
  const auto record = test::streamer_info_record(std::span(&info, 1), kKeylen);
  test::ObjectImage object(kKeylen);
  const auto own = object.open(1);
  const auto inner = object.open(5);
  object.tobject();
  object.put_string("");
  object.put(std::int32_t{2});
  const auto slot = object.open_object("TNamed");
  object.tnamed("x", "y");
  object.close(slot);
  object.put_string("");
  object.reference(object.identity(inner + 23));
  object.put_string("option");
  object.close(inner);
  const auto vector = object.open(10);
  object.put(std::uint32_t{1});
  const auto pair = object.open(0);
  object.put(std::uint32_t{77});
  object.put(std::int32_t{1});
  const auto text = object.open(10);
  object.put_string("one");
  object.close(text);
  object.close(pair);
  object.close(vector);
  object.close(own);
  Bytes out;
  out.put_string("Mine");
  out.put(kKeylen);
  out.put(static_cast<std::uint16_t>(record.size()));
  std::vector<std::byte> all = out.all();
  all.insert(all.end(), record.all().begin(), record.all().end());
  all.push_back(std::byte{kKeylen});
  all.insert(all.end(), object.all().begin(), object.all().end());
  return all;
}

// The envelopes of an RNTuple, and its file.
std::vector<std::byte> ntuple_seed() {
  test::NtupleImage image = test::ntuple_of_all_kinds();
  test::LittleBytes seed;
  std::vector<test::LittleBytes> page_lists;
  test::LittleBytes header, footer;
  image.change_header = [&](test::LittleBytes& payload) { header = payload; };
  image.change_footer = [&](test::LittleBytes& payload) { footer = payload; };
  image.change_page_list = [&](test::LittleBytes& payload) { page_lists.push_back(payload); };
  const auto file = image.finish();
  for (const test::LittleBytes* payload : {&header, &footer, &page_lists[0]})
    seed.put(static_cast<std::uint32_t>(payload->size())).put(*payload);
  return seed.put_bytes(file).all();
}

// Forty elements of a column with this type code.
std::vector<std::byte> page_seed(std::uint8_t type, std::uint8_t bits) {
  constexpr std::uint32_t kElements = 40;
  test::LittleBytes seed;
  seed.put(type).put(bits).put(static_cast<std::uint8_t>(type % 11)).put(kElements);
  seed.put(std::int64_t{1000}).put(-1.0).put(1.0);
  for (std::uint32_t i = 0; i < (kElements * bits + 7) / 8; ++i) seed.put(static_cast<std::uint8_t>(i / 5));
  return seed.all();
}

// Each seed unchanged, cut, and in many rounds with some bytes changed.
template <class Body>
void replay(const std::vector<std::byte>& seed, Body body) {
  body(seed);
  for (std::size_t size = 0; size < seed.size(); size += 7)
    body(std::vector(seed.begin(), seed.begin() + static_cast<std::ptrdiff_t>(size)));
  std::mt19937 random(1);  // the same bytes in every run
  for (int round = 0; round < 3000; ++round) {
    auto bytes = seed;
    for (int change = 0; change < 1 + round % 5; ++change)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    body(bytes);
  }
}

TEST(Fuzz, OpenHoldsItsPromises) {
  for (const bool big : {false, true}) replay(file_seed(big), [](const auto& bytes) { fuzz::open_body(bytes); });
}

TEST(Fuzz, StreamerProgramsHoldTheirPromises) {
  replay(program_seed(), [](const auto& bytes) { fuzz::program_body(bytes); });
}

TEST(Fuzz, ObjectHoldsItsPromises) {
  replay(object_seed(), [](const auto& bytes) { fuzz::object_body(bytes); });
}

TEST(Fuzz, NtupleHoldsItsPromises) {
  const auto seed = ntuple_seed();
  ASSERT_TRUE(fuzz::ntuple_body(seed));
  replay(seed, [](const auto& bytes) { fuzz::ntuple_body(bytes); });
}

TEST(Fuzz, PageHoldsItsPromises) {
  for (std::uint8_t type = 0; type < 0x1E; ++type) {
    // The smallest and the largest number of bits of each type.
    const auto is_known = [&](int bits) {
      return page_encoding(type, static_cast<std::uint16_t>(bits), -1, 1).has_value();
    };
    for (std::uint8_t bits = 1; bits <= 96; ++bits)
      if (is_known(bits) && !(is_known(bits - 1) && is_known(bits + 1)))
        replay(page_seed(type, bits), [](const auto& bytes) { fuzz::page_body(bytes); });
  }
}

TEST(Fuzz, AnswerHoldsItsPromises) {
  const std::string part = "\r\n--123\r\nContent-Range: bytes 10-19/100\r\n\r\n0123456789";
  const std::string text = std::string("\x06\x0a\x09", 3) + part + part + "\r\n--123--\r\n";
  const auto bytes = std::as_bytes(std::span(text));
  replay({bytes.begin(), bytes.end()}, [](const auto& changed) { fuzz::answer_body(changed); });
}

TEST(Fuzz, ExpressionHoldsItsPromises) {
  const std::string text =
      R"(a[0][]*b.c(1,-x^2)!=0x1f&&s=="t u"?Sum$(y[i].z)<<2:@l.size()**.5e-3|~[p0]:TMath::Pi()%((n)))";
  const auto bytes = std::as_bytes(std::span(text));
  replay({bytes.begin(), bytes.end()}, [](const std::vector<std::byte>& changed) {
    fuzz::expression_body({reinterpret_cast<const char*>(changed.data()), changed.size()});
  });
}

TEST(Fuzz, BasketHoldsItsPromises) {
  const auto seed = basket_seed();
  ASSERT_TRUE(read_basket(seed));
  replay(seed, [](const auto& bytes) { fuzz::basket_body(bytes); });
}

}  // namespace
}  // namespace tfile
