// SPDX-License-Identifier: Apache-2.0
#include "view/friends/friend_streams.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "fs/view/array_table.h"
#include "view/friends/friend_matching.h"
#include "view/friends/kept_bits.h"

namespace tfilefs {
namespace {

using tfile::NodeId;
using tfile::NodeKind;
using tfile::Role;

// An entry of the friend: a number, an array, a list, a list of lists, a string.
struct Row {
  std::int32_t x = 0;
  std::array<std::int16_t, 3> m{};
  std::vector<float> l;
  std::vector<std::vector<std::int16_t>> n;
  std::string s;
};

using Arrays = std::map<std::string, std::string>;  // bytes by path, without types

template <class T>
void add(std::string& bytes, const T& number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// The columns of these rows.
Arrays arrays_of(const std::vector<Row>& rows) {
  Arrays a;
  std::int64_t l = 0, n = 0, inner = 0, s = 0;
  for (const char* path : {"l/offsets", "n/offsets", "n/values/offsets", "s/offsets"}) add(a[path], std::int64_t{0});
  for (const char* path : {"x", "m", "l/values", "n/values/values", "s/chars"}) a[path];
  for (const Row& row : rows) {
    add(a["x"], row.x);
    add(a["m"], row.m);
    for (const float item : row.l) add(a["l/values"], item);
    for (const auto& list : row.n) {
      for (const std::int16_t item : list) add(a["n/values/values"], item);
      add(a["n/values/offsets"], inner += std::ssize(list));
    }
    a["s/chars"] += row.s;
    add(a["l/offsets"], l += std::ssize(row.l));
    add(a["n/offsets"], n += std::ssize(row.n));
    add(a["s/offsets"], s += std::ssize(row.s));
  }
  return a;
}

template <class T>
std::vector<T> numbers(const std::string& bytes) {
  std::vector<T> all(bytes.size() / sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

std::shared_ptr<ArrayTable> table_of(const std::vector<Row>& rows, std::int64_t chunk) {
  auto table = std::make_shared<ArrayTable>(chunk);
  const Arrays a = arrays_of(rows);
  table->entries = std::ssize(rows);
  table->column(0, "x.i4", Role::values, numbers<std::int32_t>(a.at("x")));
  table->column(0, "m.i2x3", Role::values, numbers<std::int16_t>(a.at("m")), {3});
  const NodeId l = table->directory(0, "l");
  table->column(l, "offsets.i8", Role::offsets, numbers<std::int64_t>(a.at("l/offsets")));
  table->column(l, "values.f4", Role::values, numbers<float>(a.at("l/values")));
  const NodeId n = table->directory(0, "n");
  table->column(n, "offsets.i8", Role::offsets, numbers<std::int64_t>(a.at("n/offsets")));
  const NodeId inner = table->directory(n, "values");
  table->nodes[n].kind = NodeKind::list;
  table->column(inner, "offsets.i8", Role::offsets, numbers<std::int64_t>(a.at("n/values/offsets")));
  table->column(inner, "values.i2", Role::values, numbers<std::int16_t>(a.at("n/values/values")));
  const NodeId s = table->directory(0, "s");
  table->column(s, "offsets.i8", Role::offsets, numbers<std::int64_t>(a.at("s/offsets")));
  table->column(s, "chars.u1", Role::chars, numbers<char>(a.at("s/chars")));
  return table;
}

std::vector<Row> random_rows(std::mt19937& random, std::size_t count) {
  std::vector<Row> rows(count);
  for (std::size_t i = 0; i < count; ++i) {
    Row& row = rows[i];
    row.x = static_cast<std::int32_t>(i);
    row.m = {static_cast<std::int16_t>(i), static_cast<std::int16_t>(i + 1), static_cast<std::int16_t>(i + 2)};
    row.l.resize(random() % 4, static_cast<float>(i));
    row.n.resize(random() % 3);
    for (auto& list : row.n) list.resize(random() % 3, static_cast<std::int16_t>(i));
    row.s = std::string(random() % 5, static_cast<char>('a' + i % 26));
  }
  return rows;
}

struct Shown {
  std::shared_ptr<const FriendTable> table;
  std::shared_ptr<FriendStreams> streams;
};

Shown show(TableRig& rig, const EntryRuns& runs, FriendRows rows) {
  ArrayTable of;
  of.entries = runs.entries();
  auto matched = std::make_shared<MatchedRuns>();
  matched->runs = runs;
  auto table = std::make_shared<const FriendTable>(rig.table, of, rows);
  return {table, std::make_shared<FriendStreams>(*rig.cache, table, entries_of(std::move(matched)), rig.streams)};
}

std::string read(const Shown& shown, const tfile::Column& column, std::uint64_t offset, std::size_t size) {
  Answer<Slices> answer;
  shown.streams->read(column.stream, 0, column.item_size(), offset, size, ReadUse(), answer.reply());
  const auto slices = answer.wait();
  EXPECT_TRUE(slices) << slices.error().text;
  std::string bytes(slices ? slices->size() : 0, '\0');
  if (slices) copy_slices(*slices, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

// Each column, as a whole and in random pieces.
void expect_columns(const Shown& shown, const Arrays& wanted, std::mt19937& random) {
  std::size_t columns = 0;
  for (const tfile::Column& column : shown.table->columns) {
    const std::string path = column.path.substr(0, column.path.rfind('.'));
    ASSERT_TRUE(wanted.contains(path)) << path;
    const std::string& bytes = wanted.at(path);
    Answer<std::int64_t> length;
    shown.streams->length(column.stream, 0, length.reply());
    const auto items = length.wait();
    ASSERT_TRUE(items) << path << ": " << items.error().text;
    ASSERT_EQ(static_cast<std::size_t>(*items) * column.item_size(), bytes.size()) << path;
    ASSERT_EQ(read(shown, column, 0, bytes.size() + 100), bytes) << path;
    for (int i = 0; i < 20 && !bytes.empty(); ++i) {
      const std::size_t offset = random() % bytes.size(), size = 1 + random() % 300;
      ASSERT_EQ(read(shown, column, offset, size), bytes.substr(offset, size)) << path << " at " << offset;
    }
    ++columns;
  }
  EXPECT_EQ(columns, wanted.size());
}

// Chosen of so many entries, of which all columns have only the first ones.
Shown show_chosen(TableRig& rig, std::int64_t entries, const std::vector<std::uint64_t>& bits) {
  const std::int64_t rows = std::exchange(rig.table->entries, entries);
  auto kept = std::make_shared<KeptBits>(entries, Budget::Reservation());
  kept->keep({0, entries}, bits);
  kept->finish();
  std::vector<FriendTable::ShortColumn> short_columns;
  for (tfile::ColumnId id = 0; id < rig.table->columns.size(); ++id) {
    const tfile::Column& column = rig.table->columns[id];
    if (column.lists.empty() || column.lists[0] == id)
      short_columns.push_back({id, rows, kept->kept_before(std::vector{rows})[0]});
  }
  auto table = FriendTable::of_chosen(rig.table, kept->entries(), {}, std::move(short_columns));
  return {table, std::make_shared<FriendStreams>(*rig.cache, table, std::move(kept), rig.streams)};
}

TEST(FriendTable, ListsThatAreNotDecodedAreLeftOutAndNamed) {
  const auto of = table_of({}, 10);
  of->column(of->directory(0, "bare"), "offsets.i8", Role::offsets, std::vector<std::int64_t>{0});
  const auto chosen = FriendTable::of_chosen(of, 0, {});
  using LeftOut = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(chosen->left_out(), (LeftOut{{"bare", "list, of items without a description"}}));
}

TEST(FriendStreams, ChosenEntriesOfShortColumnsEnd) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Row> rows = random_rows(random, 1 + random() % 9'000);
    TableRig rig(table_of(rows, 1 + static_cast<std::int64_t>(random() % 200)));
    const std::size_t entries = rows.size() + 1 + random() % 9'000;
    std::vector<Row> wanted;
    std::vector<std::uint64_t> bits((entries + 63) / 64);
    const unsigned parts = 1 + seed % 4;
    for (std::size_t i = 0; i < entries; ++i) {
      if (random() % parts != 0) continue;
      bits[i / 64] |= std::uint64_t{1} << (i % 64);
      if (i < rows.size()) wanted.push_back(rows[i]);
    }
    expect_columns(show_chosen(rig, static_cast<std::int64_t>(entries), bits), arrays_of(wanted), random);
  }
}

TEST(FriendStreams, ChosenEntriesAreTheirRows) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Row> rows = random_rows(random, seed == 0 ? 0 : 1 + random() % 20'000);
    TableRig rig(table_of(rows, 1 + static_cast<std::int64_t>(random() % 200)));
    auto kept = std::make_shared<KeptBits>(std::ssize(rows), Budget::Reservation());
    std::vector<Row> wanted;
    std::vector<std::uint64_t> bits((rows.size() + 63) / 64);
    const unsigned parts = 1 + seed % 4;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (random() % parts != 0) continue;
      bits[i / 64] |= std::uint64_t{1} << (i % 64);
      wanted.push_back(rows[i]);
    }
    kept->keep({0, std::ssize(rows)}, bits);
    kept->finish();
    auto table = FriendTable::of_chosen(rig.table, kept->entries(), {});
    auto streams = std::make_shared<FriendStreams>(*rig.cache, table, std::move(kept), rig.streams);
    expect_columns({std::move(table), std::move(streams)}, arrays_of(wanted), random);
  }
}

TEST(FriendStreams, RandomMatchesAreWhatTheirRowsAre) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Row> rows = random_rows(random, seed == 0 ? 0 : 1 + random() % 3000);
    TableRig rig(table_of(rows, 1 + static_cast<std::int64_t>(random() % 200)));
    const auto entries = static_cast<std::int64_t>(random() % 12'000);
    EntryRuns runs(entries);
    std::vector<Row> matched;
    std::string ranks(sizeof(std::int64_t), '\0');
    std::int64_t next = 0;
    for (std::int64_t entry = 0; entry < entries; ++entry) {
      const bool goes_on = random() % 4 != 0;  // as keys in order do
      if (!goes_on) next = static_cast<std::int64_t>(random() % (rows.size() + 1));
      if (next < std::ssize(rows)) {
        runs.add(entry, next);
        matched.push_back(rows[static_cast<std::size_t>(next++)]);
      }
      add(ranks, static_cast<std::int64_t>(matched.size()));
    }
    Arrays wanted;
    for (const auto& [path, bytes] : arrays_of(matched)) {
      const std::size_t slash = path.find('/');
      wanted[path.substr(0, slash) + "/values" + (slash == std::string::npos ? "" : path.substr(slash))] = bytes;
      wanted[path.substr(0, slash) + "/offsets"] = ranks;
    }
    expect_columns(show(rig, runs, FriendRows::any), wanted, random);
  }
}

TEST(FriendStreams, SomeRowsThatFollowEachOther) {
  std::mt19937 random(7);
  const std::vector<Row> rows = random_rows(random, 1000);
  TableRig rig(table_of(rows, 50));
  for (const auto& [first, entries] :
       {std::pair(0, 300), std::pair(250, 500), std::pair(900, 500), std::pair(1000, 5)}) {
    const std::size_t last = std::min<std::size_t>(rows.size(), static_cast<std::size_t>(first + entries));
    const std::vector<Row> shown(rows.begin() + first, rows.begin() + static_cast<std::ptrdiff_t>(last));
    const EntryPart part{0, first, std::ssize(rows) - first};
    const EntryRuns runs = EntryRuns::by_position(entries, {&part, 1});
    expect_columns(show(rig, runs, FriendRows::some), arrays_of(shown), random);
  }
}

TEST(FriendStreams, OffsetsThatContradictThemselvesAreDamage) {
  auto table = std::make_shared<ArrayTable>();
  table->entries = 3;
  const NodeId l = table->directory(0, "l");
  table->column(l, "offsets.i8", Role::offsets, std::vector<std::int64_t>{0, 5, 2, -9});
  table->column(l, "values.f4", Role::values, std::vector<float>(5));
  TableRig rig(table);
  EntryRuns runs(2);
  runs.add(0, 1, 2);
  const Shown shown = show(rig, runs, FriendRows::some);
  Answer<std::int64_t> length;
  shown.streams->length(1, 0, length.reply());
  const auto items = length.wait();
  ASSERT_FALSE(items);
  EXPECT_EQ(items.error().kind, ErrorKind::damaged);
}

KeySources keys_of(TableRig& rig, std::int64_t entries) {
  return {{rig.streams, {rig.table->columns[0]}, {}}, {rig.streams, {rig.table->columns[1]}, {}}, entries};
}

std::shared_ptr<ArrayTable> keys_table(const std::vector<std::int32_t>& major, const std::vector<double>& minor) {
  auto table = std::make_shared<ArrayTable>(50'000);
  table->column(0, "major.i4", Role::values, major);
  table->column(0, "minor.f8", Role::values, minor);
  return table;
}

TEST(FriendMatching, EveryEntryFindsTheFirstOneWithItsKey) {
  constexpr int kEntries = 150'000;  // several reads of keys
  std::mt19937 random(5);
  std::vector<std::int32_t> major(kEntries), friend_major(kEntries);
  std::vector<double> minor(kEntries), friend_minor(kEntries);
  std::map<std::pair<int, int>, int> first;
  for (int i = 0; i < kEntries; ++i) {
    friend_major[i] = static_cast<int>(random() % 300) - 100;
    friend_minor[i] = static_cast<double>(random() % 2000) / 2;
    // Keys are compared by their values, so that halves equal no whole number.
    if (std::floor(friend_minor[i]) == friend_minor[i])
      first.emplace(std::pair(friend_major[i], static_cast<int>(friend_minor[i])), i);
    major[i] = static_cast<int>(random() % 300) - 100;
    minor[i] = static_cast<int>(random() % 1000);
  }
  TableRig own(keys_table(friend_major, friend_minor), 64 << 20), of(keys_table(major, minor));
  Answer<CountedIndexPtr> indexed;
  index_entries(*own.cache, keys_of(own, kEntries), indexed.reply());
  const auto index = indexed.wait();
  ASSERT_TRUE(index) << index.error().text;
  Answer<MatchedRunsPtr> matched;
  match_entries(*own.cache, keys_of(of, kEntries), *index, matched.reply());
  const auto runs = matched.wait();
  ASSERT_TRUE(runs) << runs.error().text;
  for (int i = 0; i < kEntries; ++i) {
    const auto wanted = first.find({major[i], static_cast<int>(minor[i])});
    ASSERT_EQ((*runs)->runs.friend_entry(i), wanted == first.end() ? -1 : wanted->second) << i;
  }
  EXPECT_EQ((*runs)->memory.bytes(), (*runs)->runs.memory());
}

TEST(FriendMatching, MoreThanHalfOfTheMemoryIsRefused) {
  TableRig rig(keys_table({1, 2, 3}, {1, 2, 3}), 1 << 20);
  Answer<CountedIndexPtr> indexed;
  index_entries(*rig.cache, keys_of(rig, (1 << 19) / 24 + 1), indexed.reply());
  const auto refused = indexed.wait();
  ASSERT_FALSE(refused);
  EXPECT_TRUE(is_refusal(refused.error()));
}

}  // namespace
}  // namespace tfilefs
