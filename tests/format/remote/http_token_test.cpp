// SPDX-License-Identifier: Apache-2.0
#include "remote/http/http_token.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace tfile {
namespace {

TEST(BearerToken, IsLookedForInTheOrderOfWlcg) {
  const std::string directory = ::testing::TempDir();
  const std::string of_user = directory + "/bt_u" + std::to_string(::geteuid()), named = directory + "/token";
  std::ofstream(of_user) << "of-user\n";
  std::ofstream(named) << "  named \n";
  ::setenv("XDG_RUNTIME_DIR", directory.c_str(), 1);
  ::unsetenv("BEARER_TOKEN");
  ::unsetenv("BEARER_TOKEN_FILE");
  EXPECT_EQ(bearer_token(true), "of-user");
  ::setenv("BEARER_TOKEN_FILE", named.c_str(), 1);
  EXPECT_EQ(bearer_token(false), "of-user") << "believed for a while";
  EXPECT_EQ(bearer_token(true), "named");
  ::setenv("BEARER_TOKEN", "first", 1);
  EXPECT_EQ(bearer_token(true), "first");
  ::setenv("BEARER_TOKEN", "a\r\nHost: evil", 1);
  EXPECT_EQ(bearer_token(true), "") << "it would be a line of the head";
  ::unsetenv("BEARER_TOKEN");
  ::unsetenv("BEARER_TOKEN_FILE");
  ::unlink(of_user.c_str());
  ::unlink(named.c_str());
}

TEST(BearerToken, IsSentWhereNobodyReadsIt) {
  for (const char* url : {"https://a.org/f", "http://localhost:80/f", "http://127.0.0.1/f", "http://[::1]:8/f",
                          "http://user:pass@127.8.9.1:80/f?x"})
    EXPECT_TRUE(is_confidential(url)) << url;
  for (const char* url : {"http://a.org/f", "http://127.a.org/f", "http://localhost.org/f", "http://127.0.0.1@a.org/f",
                          "http://a.org/127.0.0.1", "ftp://localhost/f", "http://a.org?@127.0.0.1"})
    EXPECT_FALSE(is_confidential(url)) << url;
}

}  // namespace
}  // namespace tfile
