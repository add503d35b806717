// SPDX-License-Identifier: Apache-2.0
#include "view/pages.h"

#include <gtest/gtest.h>

#include <map>

#include "fs/view/array_table.h"

namespace tfilefs {
namespace {

using tfile::Role;

constexpr std::int64_t kEntries = 8;
constexpr std::uint32_t kNone = ~0u;

// Eight entries, each a list of two lists of one number. A chunk has four offsets, so those of the inner lists end
// inside entries: two chunks of them cover such an entry.
class ListsOfLists final : public ArrayTable {
 public:
  explicit ListsOfLists(std::uint32_t damaged) : ArrayTable(4), damaged_(damaged) {
    std::vector<std::int64_t> outer, inner;
    std::vector<std::int32_t> numbers(2 * kEntries);
    for (std::int64_t i = 0; i <= kEntries; ++i) outer.push_back(2 * i);
    for (std::int64_t i = 0; i <= 2 * kEntries; ++i) inner.push_back(i);
    const tfile::NodeId list = directory(0, "v");
    column(list, "offsets.i8", Role::offsets, outer);
    const tfile::NodeId values = directory(list, "values");
    column(values, "offsets.i8", Role::offsets, inner);
    column(values, "values.i4", Role::values, numbers);
  }
  tfile::EntryRange chunk_entries(tfile::ChunkKey key) const override {
    static const std::vector<tfile::EntryRange> kOuter = {{0, 3}, {3, 7}, {7, 8}};
    static const std::vector<tfile::EntryRange> kInner = {{0, 2}, {1, 4}, {3, 6}, {5, 8}, {7, 8}};
    return key.stream == 0 ? kOuter[key.index] : kInner[std::min<std::size_t>(key.index, kInner.size() - 1)];
  }
  Result<tfile::Chunk> decode(tfile::ChunkKey key, std::span<const std::byte> stored,
                              std::span<const std::shared_ptr<const tfile::Chunk>> inputs,
                              std::span<const std::int64_t> first) const override {
    if (key.stream == 1 && key.index == damaged_) return tfile::fail(ErrorKind::damaged, "bad offsets");
    return ArrayTable::decode(key, stored, inputs, first);
  }

 private:
  const std::uint32_t damaged_;  // chunk of the inner offsets
};

Result<LeafPagesPtr> pages_of(std::uint32_t damaged, const std::vector<std::int64_t>& bounds) {
  TableRig rig(std::make_shared<ListsOfLists>(damaged));
  PageShape shape;
  shape.steps = {{LevelStep::Kind::list, 0, 2 * kEntries}, {LevelStep::Kind::list, 1, 2 * kEntries}};
  shape.value_size = 4;
  Answer<LeafPagesPtr> answer;
  cut_into_pages(rig.streams, rig.table, shape, std::make_shared<const std::vector<std::int64_t>>(bounds),
                 answer.reply());
  return answer.wait();
}

// By entry: whether its page is sound. The pages must follow each other, and those that are sound have its values.
std::map<std::int64_t, bool> sound_entries(const LeafPages& pages) {
  std::map<std::int64_t, bool> sound;
  std::int64_t next = 0;
  for (const Page& page : pages.pages) {
    EXPECT_EQ(page.entries.begin, next);
    next = page.entries.end;
    for (std::int64_t entry = page.entries.begin; entry < page.entries.end; ++entry) sound[entry] = !page.error;
    EXPECT_EQ(page.places, (page.error ? 1 : 2) * (page.entries.end - page.entries.begin));
    if (page.error) continue;
    EXPECT_EQ(page.values.begin, 2 * page.entries.begin);
    EXPECT_EQ(page.values.end, 2 * page.entries.end);
  }
  EXPECT_EQ(next, kEntries);
  return sound;
}

TEST(Pages, ChunksThatEndInsideAnEntryDoNotCutIt) {
  for (const std::vector<std::int64_t>& bounds : {std::vector<std::int64_t>{0, 8}, {0, 1, 2, 3, 5, 8}}) {
    const auto pages = pages_of(kNone, bounds);
    ASSERT_TRUE(pages) << pages.error().text;
    EXPECT_EQ((*pages)->pages.size(), bounds.size() - 1);
    EXPECT_EQ((*pages)->group_begin.size(), bounds.size());
    for (const auto& [entry, is_sound] : sound_entries(**pages)) EXPECT_TRUE(is_sound) << entry;
  }
}

// The entries of a damaged chunk are lost, also those that it shares; entries of sound chunks alone are not, unless
// they stand in a block of entries with one that is lost.
TEST(Pages, ADamagedChunkLosesTheEntriesThatItShares) {
  const std::vector<tfile::EntryRange> lost = {{0, 2}, {1, 4}, {3, 6}, {5, 8}, {7, 8}};
  const std::vector<tfile::EntryRange> blocks = {{0, 2}, {0, 6}, {2, 6}, {4, 8}, {6, 8}};
  for (std::uint32_t chunk = 0; chunk < lost.size(); ++chunk) {
    const auto pages = pages_of(chunk, {0, kEntries});
    ASSERT_TRUE(pages) << pages.error().text;
    for (const auto& [entry, is_sound] : sound_entries(**pages)) {
      if (lost[chunk].begin <= entry && entry < lost[chunk].end) {
        EXPECT_FALSE(is_sound) << chunk << ": " << entry;
      } else if (entry < blocks[chunk].begin || entry >= blocks[chunk].end) {
        EXPECT_TRUE(is_sound) << chunk << ": " << entry;
      }
    }
  }
}

}  // namespace
}  // namespace tfilefs
