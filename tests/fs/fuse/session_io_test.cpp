// SPDX-License-Identifier: Apache-2.0
#include "fuse/session_io.h"

#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <sys/uio.h>

#include <vector>

namespace tfilefs {
namespace {

TEST(SessionIo, TheAnswerToInitAsksForParallelLookUps) {
  fuse_out_header header{};
  fuse_init_out init{};
  init.flags = FUSE_ASYNC_READ;
  const std::vector<iovec> parts{{&header, sizeof header}, {&init, sizeof init}};
  EXPECT_TRUE(ask_for_parallel_lookups(parts));
  EXPECT_EQ(init.flags, static_cast<unsigned>(FUSE_ASYNC_READ | FUSE_PARALLEL_DIROPS));
}

TEST(SessionIo, OtherAnswersStayAsTheyAre) {
  fuse_out_header header{};
  std::vector<char> bytes(100, '\7');
  EXPECT_FALSE(ask_for_parallel_lookups(std::vector<iovec>{{&header, sizeof header}}));
  EXPECT_FALSE(ask_for_parallel_lookups(std::vector<iovec>{{&header, sizeof header}, {bytes.data(), 8}}));
  header.error = -5;
  EXPECT_FALSE(ask_for_parallel_lookups(std::vector<iovec>{{&header, sizeof header}, {bytes.data(), bytes.size()}}));
  EXPECT_EQ(bytes, std::vector<char>(100, '\7'));
}

}  // namespace
}  // namespace tfilefs
