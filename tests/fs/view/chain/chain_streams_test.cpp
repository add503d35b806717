// SPDX-License-Identifier: Apache-2.0
#include "view/chain/chain_streams.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "fs/view/array_table.h"

namespace tfilefs {
namespace {

using tfile::NodeId;
using tfile::NodeKind;
using tfile::Role;

using Arrays = std::map<std::string, std::string>;  // bytes by path, without types

template <class T>
void add(std::string& bytes, const T& number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// A file of a chain: some do not have all columns, or have them of a smaller type.
std::shared_ptr<ArrayTable> random_file(std::mt19937& random, bool has_all, bool is_small, Arrays& all) {
  const std::size_t entries = random() % 3 == 0 ? random() % 3 : random() % 900;
  std::vector<std::int32_t> x;
  std::vector<std::int16_t> small;
  std::vector<std::int64_t> ends{0};
  std::vector<float> items;
  std::vector<std::uint8_t> o;
  for (std::size_t i = 0; i < entries; ++i) {
    x.push_back(static_cast<std::int32_t>(random() % 60'000) - 30'000);
    small.push_back(static_cast<std::int16_t>(x.back()));
    items.resize(items.size() + random() % 4, static_cast<float>(i));
    ends.push_back(std::ssize(items));
    o.push_back(static_cast<std::uint8_t>(random()));
    add(all["x"], x.back());
    add(all["l/offsets"], static_cast<std::int64_t>((all["l/values"].size()) / sizeof(float)) + ends.back());
    if (has_all) all["o/values"] += static_cast<char>(o.back());
    add(all["o/offsets"], std::ssize(all["o/values"]));
  }
  for (const float item : items) add(all["l/values"], item);
  auto table = std::make_shared<ArrayTable>(1 + static_cast<std::int64_t>(random() % 300));
  table->nodes[0].kind = NodeKind::record;
  table->entries = static_cast<std::int64_t>(entries);
  if (is_small)
    table->column(0, "x.i2", Role::values, small);
  else
    table->column(0, "x.i4", Role::values, x);
  const NodeId l = table->directory(0, "l");
  table->column(l, "offsets.i8", Role::offsets, ends);
  table->column(l, "values.f4", Role::values, items);
  if (has_all) table->column(0, "o.u1", Role::values, o);
  return table;
}

class Files final : public ChainFiles {
 public:
  explicit Files(std::vector<std::unique_ptr<TableRig>> rigs) : rigs_(std::move(rigs)) {}
  void streams(std::size_t file, Reply<std::shared_ptr<CachedStreams>> reply) override {
    reply(broken == file ? tfile::fail(ErrorKind::io, "cannot be opened")
                         : Result<std::shared_ptr<CachedStreams>>(rigs_[file]->streams));
  }
  bool is_stale(std::size_t) const override { return false; }
  std::string name(std::size_t file) const override { return "file " + std::to_string(file); }

  std::size_t broken = SIZE_MAX;

 private:
  const std::vector<std::unique_ptr<TableRig>> rigs_;
};

struct ChainRig {
  std::unique_ptr<ClusterCache> cache = std::make_unique<ClusterCache>(CacheOptions{.memory = 16 << 20, .threads = 2});
  Arrays all{{"l/offsets", std::string(8, '\0')}, {"o/offsets", std::string(8, '\0')}};
  std::shared_ptr<const ChainTable> table;
  std::shared_ptr<Files> files;
  std::shared_ptr<ChainStreams> streams;

  ChainRig(std::mt19937& random, std::size_t count) {
    SchemaSet set;
    std::vector<TableSchemaPtr> schemas;
    std::vector<ChainedFile> chained;
    std::vector<std::unique_ptr<TableRig>> rigs;
    for (std::size_t i = 0; i < count; ++i) {
      rigs.push_back(std::make_unique<TableRig>(random_file(random, i % 3 != 1, i % 2 == 1, all)));
      const tfile::Table& made = *rigs.back()->table;
      schemas.push_back(set.keep(TableSchema{made.kind, made.nodes, made.columns, {}}));
      chained.push_back({static_cast<std::uint32_t>(i), made.entries, {}});
    }
    auto schema = chain_schema(schemas, ChainPolicy::all);
    EXPECT_TRUE(schema) << schema.error().text;
    table = std::make_shared<const ChainTable>(*std::move(schema), std::move(chained), std::vector<std::uint64_t>());
    files = std::make_shared<Files>(std::move(rigs));
    streams = std::make_shared<ChainStreams>(*cache, table, files, CachedStreams::Files{});
  }

  Result<std::string> read(const tfile::Column& column, std::uint64_t offset, std::size_t size) {
    Answer<Slices> answer;
    streams->read(column.stream, 0, column.item_size(), offset, size, ReadUse(), answer.reply());
    const auto slices = answer.wait();
    if (!slices) return tl::unexpected<Error>(slices.error());
    std::string bytes(slices->size(), '\0');
    copy_slices(*slices, reinterpret_cast<std::byte*>(bytes.data()));
    return bytes;
  }
};

TEST(ChainStreams, RandomReadsAreThoseOfAllFilesTogether) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    std::mt19937 random(seed);
    ChainRig rig(random, 1 + random() % 9);
    for (const tfile::Column& column : rig.table->columns) {
      std::string path = column.path.substr(0, column.path.rfind('.'));
      if (path == "o") path = "o/values";  // each file has it
      ASSERT_TRUE(rig.all.contains(path)) << path;
      const std::string& bytes = rig.all.at(path);
      ASSERT_EQ(*rig.read(column, 0, bytes.size() + 100), bytes) << path << ", seed " << seed;
      for (int i = 0; i < 40; ++i) {
        const std::size_t offset = random() % (bytes.size() + 1),
                          size = random() % 2 == 0 ? random() % 20 : random() % 9000;
        ASSERT_EQ(*rig.read(column, offset, size), bytes.substr(offset, size)) << path << " at " << offset;
      }
    }
  }
}

TEST(ChainStreams, AFileThatCannotBeOpenedFailsItsReadsAlone) {
  std::mt19937 random(3);
  ChainRig rig(random, 5);
  const tfile::Column& column = rig.table->columns[0];
  const auto& first = rig.table->first_entries();
  rig.files->broken = 4;
  const auto place = static_cast<std::uint64_t>(first[4]) * sizeof(std::int32_t);
  ASSERT_LT(first[4], first[5]);
  EXPECT_EQ(*rig.read(column, 0, place), rig.all.at("x").substr(0, place));
  const auto failed = rig.read(column, place - 4, 8);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().text, "cannot be opened");
}

}  // namespace
}  // namespace tfilefs
