// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ntuple/page_decode.h"
#include "ntuple/write/ntuple_writer.h"

namespace tfile {
namespace {

using Numbers = std::vector<std::int64_t>;
using Tags = std::vector<std::int8_t>;

// A variant of f4 and text, whose columns are those of `encode` in order.
class VariantEncode : public testing::Test {
 protected:
  VariantEncode() {
    BlobPlace place;
    place.compression = {Compression::Algorithm::none, 0};
    writer_ = NtupleWriter::create(place, "t", "");
    std::vector<InputColumn> columns;
    for (const char* path :
         {"v/tags.i1", "v/index.i8", "v/float.f4", "v/std::string/offsets.i8", "v/std::string/chars.u1"}) {
      columns.push_back(*offered_column(path));
      columns.back().classes = {{"v", "std::variant<float,std::string>"}};
    }
    EXPECT_TRUE(writer_->add_fields(columns, *offered_form(columns, TableFormat::rntuple)));
  }

  // Entries from number 10 on, in a cluster that begins with these items of the alternatives.
  Result<Part> encode(const Tags& tags, const Numbers& index, std::size_t floats, const Numbers& offsets,
                      const Numbers& items = {10, 10, 5, 2, 0}) const {
    const std::vector<float> values(floats, 1.5F);
    const std::string text(static_cast<std::size_t>(offsets.back() - offsets.front()), 'x');
    const std::vector<std::span<const std::byte>> columns = {
        std::as_bytes(std::span(tags)), std::as_bytes(std::span(index)), std::as_bytes(std::span(values)),
        std::as_bytes(std::span(offsets)), std::as_bytes(std::span(text))};
    const Numbers begin = {0, 0, 0, offsets.front(), 0};
    return writer_->encode(0, {{10, 10 + static_cast<std::int64_t>(tags.size())}, columns, begin, items});
  }

  std::string error(const Tags& tags, const Numbers& index, std::size_t floats = 2) const {
    const auto part = encode(tags, index, floats, {3, 4});
    return part ? "" : part.error().text;
  }

  std::unique_ptr<NtupleWriter> writer_;
};

TEST_F(VariantEncode, TheIndexCountsFromTheBeginningOfTheCluster) {
  const Tags tags = {1, 0, 2, 1};
  const Numbers index = {6, 0, 2, 7};
  const auto part = encode(tags, index, 2, {3, 4});
  ASSERT_TRUE(part) << part.error().text;
  ASSERT_EQ(part->units.size(), 4U) << "the tags and the index are one column";
  const Part::Unit& page = part->units[0];
  EXPECT_EQ(page.elements, 4U);
  std::vector<std::byte> tags_back(4);
  Numbers positions(4);
  const Numbers none = {0, 0};
  ASSERT_TRUE(decode_switch(part->stored.span().subspan(page.offset, page.size), 4, none, tags_back,
                            std::as_writable_bytes(std::span(positions))));
  EXPECT_EQ(positions, (Numbers{1, 0, 0, 2}));
  for (std::size_t i = 0; i < tags.size(); ++i) EXPECT_EQ(static_cast<std::int8_t>(tags_back[i]), tags[i]);
}

TEST_F(VariantEncode, WhatContradictsTheTagsIsRefusedWithItsEntry) {
  EXPECT_EQ(error({1, 0, 2, 1}, {6, 0, 2, 7}), "");
  EXPECT_EQ(error({1, 0, 2, 1}, {6, 0, 2, 8}), "v, entry 13: index 8 is not the next item");
  EXPECT_EQ(error({1, 0, 2, 1}, {4, 0, 2, 5}), "v, entry 10: index 4 is not the next item");
  EXPECT_EQ(error({1, 0, 2, 3}, {6, 0, 2, 0}), "v, entry 13: tag 3 of 2 alternatives");
  EXPECT_EQ(error({1, -1, 2, 1}, {6, 0, 2, 7}), "v, entry 11: tag -1 of 2 alternatives");
  EXPECT_EQ(error({1, 0, 2, 1}, {6, 0, 2, 7}, 3),
            "v, entry 10: values have a different length than the offsets or tags say");
}

TEST_F(VariantEncode, AnAlternativeThatNoneHoldsHasOneOffset) {
  const auto part = encode({1, 1}, {5, 6}, 2, {0}, {10, 10, 5, -1, -1});
  ASSERT_TRUE(part) << part.error().text;
  EXPECT_EQ(part->units.size(), 2U);
}

}  // namespace
}  // namespace tfile
