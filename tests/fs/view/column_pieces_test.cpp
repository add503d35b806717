// SPDX-License-Identifier: Apache-2.0
#include "view/column_pieces.h"

#include <gtest/gtest.h>

#include <random>

#include "fs/view/array_table.h"

namespace tfilefs {
namespace {

using tfile::Role;

std::string bytes_of(const Slices& slices) {
  std::string bytes(slices.size(), '\0');
  copy_slices(slices, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

struct PiecesRig : TableRig {
  explicit PiecesRig(std::size_t size) : TableRig(std::make_shared<ArrayTable>(1000)) {
    std::vector<char> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>('a' + i * i % 26);
    all.assign(bytes.begin(), bytes.end());
    table->column(0, "a.u1", Role::values, bytes);
  }
  ColumnRange range(std::int64_t first, std::int64_t count) const {
    return range_of_items(table->columns[0], first, count);
  }
  std::string all;
};

TEST(ColumnPieces, PicksGoWhereTheyBelong) {
  PiecesRig rig(60'000);
  std::mt19937 random(1);
  for (int round = 0; round < 30; ++round) {
    std::vector<Pick> picks(random() % 200);
    std::string wanted;
    for (Pick& pick : picks) {
      pick.from = random() % rig.all.size();
      pick.size = random() % std::min<std::size_t>(rig.all.size() - pick.from, round % 2 == 0 ? 5 : 3000);
      pick.to = wanted.size();
      wanted += rig.all.substr(pick.from, pick.size);
    }
    std::shuffle(picks.begin(), picks.end(), random);
    const auto buffer = std::make_shared<tfile::Buffer>(wanted.size());
    Answer<void> answer;
    pick_items(rig.streams, rig.range(0, 0), std::move(picks), buffer, {}, answer.reply());
    ASSERT_TRUE(answer.wait());
    ASSERT_EQ(bytes_of(one_slice(buffer)), wanted);
  }
}

TEST(ColumnPieces, FewerBytesThanAnnouncedAreDamage) {
  PiecesRig rig(10);
  Answer<Slices> answer;
  read_whole(*rig.streams, rig.range(4, 7), answer.reply());
  const auto slices = answer.wait();
  ASSERT_FALSE(slices);
  EXPECT_EQ(slices.error().kind, ErrorKind::damaged);
}

TEST(ColumnPieces, InputsAreAddedInTheirOrder) {
  PiecesRig rig(3000);
  Inputs inputs;
  for (const std::vector<ColumnRange>& ranges :
       {std::vector{rig.range(2990, 10), rig.range(0, 0)}, std::vector{rig.range(5, 2000)}}) {
    Answer<Inputs> answer;
    read_inputs(rig.streams, ranges, {}, std::move(inputs), answer.reply());
    auto read = answer.wait();
    ASSERT_TRUE(read);
    inputs = *std::move(read);
  }
  ASSERT_EQ(inputs.bytes().size(), 3u);
  EXPECT_EQ(inputs.bytes()[0], rig.all.substr(2990));
  EXPECT_EQ(inputs.bytes()[1], "");
  EXPECT_EQ(inputs.bytes()[2], rig.all.substr(5, 2000));
}

struct Part {
  std::size_t size;
  char fill;
};

TEST(ColumnPieces, PartsFollowEachOtherHoweverLateTheyCome) {
  std::vector<std::function<void()>> later;
  auto read = [&later](const Part& part, std::byte* to, Reply<void> told) {
    auto shared = std::make_shared<Reply<void>>(std::move(told));
    later.push_back([&part, to, shared] {
      std::fill(to, to + part.size, static_cast<std::byte>(part.fill));
      (*shared)({});
    });
  };
  Answer<Slices> answer;
  put_together(std::vector<Part>{{2, 'a'}, {0, 'b'}, {3, 'c'}}, read, answer.reply());
  ASSERT_EQ(later.size(), 3u);  // all at the same time
  for (std::size_t i = later.size(); i-- > 0;) {
    EXPECT_FALSE(answer.is_there());
    later[i]();
  }
  EXPECT_EQ(bytes_of(*answer.wait()), "aaccc");
}

}  // namespace
}  // namespace tfilefs
