// SPDX-License-Identifier: Apache-2.0
#include "http/access.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

constexpr const char* kToken = "abcdefghijklmnop";

bool is_shown(const Credentials& given) { return shows_token(given, kToken, "tfilefs-80"); }

TEST(Token, IsRandom) {
  const auto one = make_token(), other = make_token();
  ASSERT_TRUE(one && other);
  EXPECT_TRUE(is_good_token(*one));
  EXPECT_EQ(one->size(), 32u);
  EXPECT_NE(*one, *other);
  for (const char* bad : {"", "short", "abcdefghijklmno!", "abcdefghijklmnop\r\n"})
    EXPECT_FALSE(is_good_token(bad)) << bad;
}

TEST(Token, IsShownInFourWays) {
  EXPECT_TRUE(is_shown({.query = kToken}));
  EXPECT_TRUE(is_shown({.authorization = "Bearer abcdefghijklmnop"}));
  EXPECT_TRUE(is_shown({.authorization = "Basic YW55OmFiY2RlZmdoaWprbG1ub3A="}));  // any:...
  EXPECT_TRUE(is_shown({.cookie = "a=b; tfilefs-80=abcdefghijklmnop"}));
}

TEST(Token, IsNotShownByAnythingElse) {
  EXPECT_FALSE(is_shown({}));
  for (const char* query : {"", "abcdefghijklmno", "abcdefghijklmnopq", "Abcdefghijklmnop"})
    EXPECT_FALSE(is_shown({.query = query})) << query;
  for (const char* header : {"", "Bearer", "Bearer abc", "abcdefghijklmnop", "Digest abcdefghijklmnop", "Basic !!!!",
                             "Basic YWJjZGVmZ2hpamtsbW5vcA==",  // without a user
                             "Basic"})
    EXPECT_FALSE(is_shown({.authorization = header})) << header;
  for (const char* header : {"", "tfilefs-80", "tfilefs-81=abcdefghijklmnop", "xtfilefs-80=abcdefghijklmnop",
                             "tfilefs-80=abcdefghijklmnopq", "tfilefs-801=abcdefghijklmnop"})
    EXPECT_FALSE(is_shown({.cookie = header})) << header;
}

TEST(Host, IsAnAddressOrAKnownName) {
  for (const char* host : {"localhost", "LOCALHOST:80", "127.0.0.1:8080", "10.1.2.3", "[::1]:80", "[fe80::1]",
                           "data.example", "Data.Example:443"})
    EXPECT_TRUE(is_own_host(host, {"data.example"})) << host;
  for (const char* host : {"", ":80", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::1", "[]",
                           "localhost:80x", "127.0.0.1@evil", "1.2.3", "[::1]x", "data.example.evil"})
    EXPECT_FALSE(is_own_host(host, {"data.example"})) << host;
}

TEST(Origin, IsThatOfTheHost) {
  EXPECT_TRUE(is_own_origin("http://127.0.0.1:80", "127.0.0.1:80"));
  for (const char* origin : {"null", "", "http://evil.example", "http://127.0.0.1:81"})
    EXPECT_FALSE(is_own_origin(origin, "127.0.0.1:80")) << origin;
}

}  // namespace
}  // namespace tfilefs
