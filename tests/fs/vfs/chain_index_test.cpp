// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain/chain_index.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "temporary_directory.h"
#include "vfs/chain/chain_plan.h"
#include "vfs/names/name_index.h"

namespace tfilefs {
namespace {

using tfile::Column;
using tfile::Node;
using tfile::NodeKind;
using tfile::Role;

// A table of a number, and a list of numbers.
TableSchema some_schema() {
  std::vector<Column> columns;
  const auto leaf = [&](const std::string& name, tfile::Dtype dtype, Role role, std::vector<tfile::ColumnId> lists) {
    Column column;
    column.path = column.name = name;
    column.dtype = dtype;
    column.role = role;
    column.lists = std::move(lists);
    column.stream = static_cast<tfile::StreamId>(columns.size());
    Node node;
    node.kind = NodeKind::number;
    node.name = name;
    node.column = static_cast<tfile::ColumnId>(columns.size());
    columns.push_back(std::move(column));
    return node;
  };
  Node root, list;
  root.children = {1, 2};
  list.kind = NodeKind::list;
  list.name = "pt";
  list.children = {3, 4};
  std::vector<Node> nodes{root, leaf("x.f8", tfile::Dtype::f8, Role::values, {}), list};
  nodes.push_back(leaf("offsets.i8", tfile::Dtype::i8, Role::offsets, {1}));
  nodes.push_back(leaf("values.f4", tfile::Dtype::f4, Role::values, {1}));
  return {"ttree", std::move(nodes), std::move(columns), {}};
}

FactsPtr some_facts(SchemaSet& schemas, std::int64_t entries) {
  auto facts = std::make_shared<FileFacts>();
  facts->identity = {1000, 5, {1, 2}, 3, true};
  facts->uuid = "u";
  facts->tables.push_back({"t",
                           "t",
                           "title",
                           "",
                           schemas.keep(some_schema()),
                           entries,
                           {0, entries / 2, entries},
                           {10, 20, 30},
                           {entries, entries + 1, -1},
                           {{"f", "t", "f.root"}}});
  return facts;
}

class ChainIndex : public ::testing::Test {
 protected:
  std::string path() const { return directory_.path() / "index"; }
  std::string bytes() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(std::string content) const {
    const std::uint64_t sum = hash_of_name(content);
    content.append(reinterpret_cast<const char*>(&sum), sizeof sum);
    std::ofstream(path(), std::ios::binary) << content;
  }

  SchemaSet schemas_;

 private:
  const TemporaryDirectory directory_;
};

TEST_F(ChainIndex, IsReadAsItWasWritten) {
  ASSERT_TRUE(
      write_index(path(), {{"a.root", "", some_facts(schemas_, 10)}, {"b.root", "t", some_facts(schemas_, 4)}}));
  const auto read = read_index(path(), schemas_);
  ASSERT_TRUE(read) << read.error().text;
  ASSERT_EQ(read->size(), 2u);
  const IndexedFile& second = (*read)[1];
  EXPECT_EQ(second.name, "b.root");
  EXPECT_EQ(second.table, "t");
  EXPECT_EQ(second.facts->identity, (tfile::Identity{1000, 5, {1, 2}, 3, true}));
  const TableFacts& table = second.facts->tables.at(0);
  EXPECT_EQ(table.entries, 4);
  EXPECT_EQ(table.clusters, (std::vector<std::int64_t>{0, 2, 4}));
  EXPECT_EQ(table.lengths, (std::vector<std::int64_t>{4, 5, -1}));
  ASSERT_EQ(table.friends.size(), 1u);
  EXPECT_EQ(table.friends[0].file, "f.root");
  EXPECT_EQ(table.schema, (*read)[0].facts->tables.at(0).schema) << "equal schemas are there once";
  EXPECT_EQ(table.schema, schemas_.keep(some_schema()));
}

TEST_F(ChainIndex, OfWhichPartsAreMissingIsRefused) {
  ASSERT_TRUE(write_index(path(), {{"a.root", "", some_facts(schemas_, 10)}}));
  const std::string whole = bytes();
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    EXPECT_FALSE(read_index(path(), schemas_)) << size;
  }
}

TEST_F(ChainIndex, IsBelievedIfNobodyElseMayHaveWrittenIt) {
  namespace files = std::filesystem;
  ASSERT_TRUE(write_index(path(), {{"a.root", "", some_facts(schemas_, 10)}}));
  const files::path directory = files::path(path()).parent_path();
  files::create_directory(directory / "open");
  files::create_symlink(path(), directory / "open" / "link");
  const auto is_read = [&](const files::path& name) {
    const auto read = read_index(name, schemas_);
    EXPECT_TRUE(read || read.error().kind == ErrorKind::denied);
    return read.has_value();
  };
  for (const files::perms bits : {files::perms::group_write, files::perms::others_write}) {
    files::permissions(path(), bits, files::perm_options::add);
    EXPECT_FALSE(is_read(path())) << "the file";
    files::permissions(path(), bits, files::perm_options::remove);
    EXPECT_TRUE(is_read(path()));
    files::permissions(directory, bits, files::perm_options::add);
    EXPECT_FALSE(is_read(path())) << "the directory";
    files::permissions(directory, files::perms::sticky_bit, files::perm_options::add);
    EXPECT_TRUE(is_read(path())) << "nobody else takes files away there";
    files::permissions(directory, bits | files::perms::sticky_bit, files::perm_options::remove);
    EXPECT_TRUE(is_read(directory / "open" / "link"));
    files::permissions(directory / "open", bits, files::perm_options::add);
    EXPECT_FALSE(is_read(directory / "open" / "link")) << "the directory of a link";
    files::permissions(directory / "open", bits, files::perm_options::remove);
  }
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(path().c_str(), 23001, 23001), 0);
  EXPECT_FALSE(is_read(path())) << "of another user";
}

TEST_F(ChainIndex, IsAFileAndLeavesNothingBeside) {
  const std::vector<IndexedFile> files{{"a.root", "", some_facts(schemas_, 10)}};
  ASSERT_TRUE(write_index(path(), files));
  ASSERT_TRUE(write_index(path(), files));
  const std::string whole = bytes();
  const std::filesystem::path directory = std::filesystem::path(path()).parent_path();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1);
  std::filesystem::create_directory(directory / "d");
  EXPECT_FALSE(write_index(directory / "d", files));
  EXPECT_FALSE(write_index("/dev/null", files));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_FALSE(read_index("/dev/zero", schemas_));
  EXPECT_FALSE(write_index(directory / "none" / "index", files));
  std::ofstream(path(), std::ios::binary | std::ios::trunc) << "root and more";
  EXPECT_FALSE(write_index(path(), files));
  EXPECT_EQ(std::filesystem::file_size(path()), 13U);
  std::ofstream(path(), std::ios::binary | std::ios::trunc) << whole.substr(0, 3);
  EXPECT_TRUE(write_index(path(), files));
}

// Its checksum says nothing of who made it. The library that reads CBOR goes as deep as the bytes say.
TEST_F(ChainIndex, ThatNestsWithoutEndIsRefused) {
  const std::string begin =
      "\xa3\x65"
      "files";
  for (const char* nested : {"\x81", "\x9f", "\xa1", "\xbf\x61x", "\xc1", "\xd8\x20", "\x82\x01"}) {
    std::string content = begin;
    for (int depth = 0; depth < 1'000'000; ++depth) content += nested;
    write(content);
    EXPECT_FALSE(read_index(path(), schemas_)) << static_cast<int>(static_cast<unsigned char>(nested[0]));
  }
}

// Its checksum says nothing of who made it. Whatever is in it, what is read is sound, or it is refused.
TEST_F(ChainIndex, OfAnotherProgramIsSoundOrRefused) {
  ASSERT_TRUE(write_index(path(), {{"a.root", "", some_facts(schemas_, 10)}, {"b.root", "", some_facts(schemas_, 4)}}));
  const std::string whole = bytes(), content = whole.substr(0, whole.size() - sizeof(std::uint64_t));
  std::mt19937 random(1);
  std::size_t sound = 0;
  for (int round = 0; round < 5'000; ++round) {
    std::string changed = content;
    for (unsigned n = random() % 4; n-- > 0;) {
      const std::size_t at = random() % changed.size();
      if (random() % 4 == 0)
        changed.erase(at, random() % 9);
      else
        changed[at] = static_cast<char>(
            random() % 3 == 0 ? random() : static_cast<unsigned char>(changed[at]) ^ 1u << random() % 8);
      if (changed.empty()) changed = content;
    }
    write(changed);
    SchemaSet own;
    auto read = read_index(path(), own);
    if (!read) continue;
    ++sound;
    std::vector<ChainMember> members;
    for (IndexedFile& file : *read) members.push_back({file.name, file.table, file.facts, ""});
    members.push_back({"c.root", "", some_facts(own, 7), ""});
    for (const ChainPolicy policy : {ChainPolicy::common, ChainPolicy::all, ChainPolicy::strict}) {
      const auto planned = plan_chain(members, policy);
      if (planned) chain_json(members, *planned, policy);
    }
  }
  EXPECT_GT(sound, 250u) << "most changes are to be of bytes that may be any";
}

}  // namespace
}  // namespace tfilefs
