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
  EXPECT_TRUE(extend_init(parts, false));
  EXPECT_EQ(init.flags, static_cast<unsigned>(FUSE_ASYNC_READ | FUSE_PARALLEL_DIROPS));
  EXPECT_EQ(init.flags2, 0u);
}

TEST(SessionIo, TheAnswerToInitAsksForMappingsWhereItMay) {
  fuse_out_header header{};
  fuse_init_out init{};
  init.flags2 = 1;
  EXPECT_TRUE(extend_init(std::vector<iovec>{{&header, sizeof header}, {&init, sizeof init}}, true));
  EXPECT_NE(init.flags & FUSE_INIT_EXT, 0u);
  EXPECT_EQ(init.flags2, 1u << 4 | 1u);
}

TEST(SessionIo, OtherAnswersStayAsTheyAre) {
  fuse_out_header header{};
  std::vector<char> bytes(100, '\7');
  EXPECT_FALSE(extend_init(std::vector<iovec>{{&header, sizeof header}}, true));
  EXPECT_FALSE(extend_init(std::vector<iovec>{{&header, sizeof header}, {bytes.data(), 8}}, true));
  header.error = -5;
  EXPECT_FALSE(extend_init(std::vector<iovec>{{&header, sizeof header}, {bytes.data(), bytes.size()}}, true));
  EXPECT_EQ(bytes, std::vector<char>(100, '\7'));
}

}  // namespace
}  // namespace tfilefs
