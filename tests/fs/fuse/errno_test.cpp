// SPDX-License-Identifier: Apache-2.0
#include "fuse/errno.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace tfilefs {
namespace {

int of(ErrorKind kind, int system_errno = 0) { return errno_of(Error{kind, "", -1, system_errno}); }

TEST(Errno, EachKindHasOne) {
  EXPECT_EQ(of(ErrorKind::damaged), EIO);
  EXPECT_EQ(of(ErrorKind::unsupported), EIO);
  EXPECT_EQ(of(ErrorKind::not_found), ENOENT);
  EXPECT_EQ(of(ErrorKind::io), EIO);
  EXPECT_EQ(of(ErrorKind::stale), ESTALE);
  EXPECT_EQ(of(ErrorKind::timed_out), ETIMEDOUT);
  EXPECT_EQ(of(ErrorKind::no_space), ENOSPC);
  EXPECT_EQ(of(ErrorKind::denied), EACCES);
  EXPECT_EQ(of(ErrorKind::busy), EBUSY);
  EXPECT_EQ(of(ErrorKind::exists), EEXIST);
  EXPECT_EQ(of(ErrorKind::not_empty), ENOTEMPTY);
  EXPECT_EQ(of(ErrorKind::invalid), EINVAL);
}

TEST(Errno, TheSystemsOwnCounts) {
  EXPECT_EQ(of(ErrorKind::io, EDQUOT), EDQUOT);
  EXPECT_EQ(of(ErrorKind::invalid, ENOTDIR), ENOTDIR);
  EXPECT_EQ(of(ErrorKind::stale, EIO), ESTALE) << "the kernel looks the path up again for no other";
}

}  // namespace
}  // namespace tfilefs
