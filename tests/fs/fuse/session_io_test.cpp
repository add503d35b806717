// SPDX-License-Identifier: Apache-2.0
#include "fuse/session_io.h"

#include <gtest/gtest.h>
#include <linux/fuse.h>

#include <cstring>
#include <vector>

namespace tfilefs {
namespace {

std::vector<std::byte> answer_with(const fuse_init_out& init, int error = 0) {
  fuse_out_header header{};
  header.error = error;
  std::vector<std::byte> bytes(sizeof header + sizeof init);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &init, sizeof init);
  return bytes;
}

fuse_init_out init_in(const std::vector<std::byte>& answer) {
  fuse_init_out init;
  std::memcpy(&init, answer.data() + sizeof(fuse_out_header), sizeof init);
  return init;
}

TEST(SessionIo, TheAnswerToInitAsksForParallelLookUps) {
  fuse_init_out init{};
  init.flags = FUSE_ASYNC_READ;
  auto answer = answer_with(init);
  EXPECT_TRUE(extend_init(answer, false));
  EXPECT_EQ(init_in(answer).flags, static_cast<unsigned>(FUSE_ASYNC_READ | FUSE_PARALLEL_DIROPS));
  EXPECT_EQ(init_in(answer).flags2, 0u);
}

TEST(SessionIo, TheAnswerToInitAsksForMappingsWhereItMay) {
  fuse_init_out init{};
  init.flags2 = 1;
  auto answer = answer_with(init);
  EXPECT_TRUE(extend_init(answer, true));
  EXPECT_NE(init_in(answer).flags & FUSE_INIT_EXT, 0u);
  EXPECT_EQ(init_in(answer).flags2, 1u << 4 | 1u);
}

TEST(SessionIo, OtherAnswersStayAsTheyAre) {
  auto refusal = answer_with({}, -5);
  auto short_answer = answer_with({});
  short_answer.resize(sizeof(fuse_out_header) + 8);
  for (auto* answer : {&refusal, &short_answer}) {
    const auto before = *answer;
    EXPECT_FALSE(extend_init(*answer, true));
    EXPECT_EQ(*answer, before);
  }
}

}  // namespace
}  // namespace tfilefs
