// SPDX-License-Identifier: Apache-2.0
#include "http/request_path.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

using Names = std::vector<std::string>;

TEST(RequestPath, IsDecodedNameByName) {
  const auto path = parse_request_path("/a%20b/%C3%A9//x.f4");
  ASSERT_TRUE(path);
  EXPECT_EQ(path->names, (Names{"a b", "\xc3\xa9", "x.f4"}));
  EXPECT_FALSE(path->ends_in_slash);
  EXPECT_TRUE(parse_request_path("/a/")->ends_in_slash);
  EXPECT_EQ(parse_request_path("/")->names, Names{});
  EXPECT_EQ(parse_request_path("/a%252Fb")->names, Names{"a%2Fb"});  // as a name with a slash is shown
  EXPECT_EQ(parse_request_path("http://host:80/a/b")->names, (Names{"a", "b"}));
  EXPECT_EQ(parse_request_path("/...")->names, Names{"..."});
  EXPECT_EQ(parse_request_path("/./a:b/.")->names, Names{"a:b"});
  EXPECT_TRUE(parse_request_path("/./a:b/.")->ends_in_slash);
  EXPECT_FALSE(parse_request_path("/./a:b")->ends_in_slash);
}

TEST(RequestPath, LeadsNowhereElse) {
  for (const char* target : {"", "a", "*", "/..", "/a/../b", "/%2e%2e/x", "/.%2E", "/a%2Fb", "/a%00b", "/%", "/%4",
                             "/%zz", "/a%2f..%2fb", "http://host"})
    EXPECT_FALSE(parse_request_path(target)) << target;
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "/a";
  EXPECT_FALSE(parse_request_path(deep));
}

TEST(RequestPath, IsEncodedAsItIsDecoded) {
  std::string all;
  for (int c = 1; c < 256; ++c)
    if (c != '/') all += static_cast<char>(c);
  EXPECT_EQ(parse_request_path(url_path({"x", all}, true))->names, (Names{"x", all}));
  EXPECT_EQ(url_path({"a<b", "\"c"}, false), "/a%3Cb/%22c");
  EXPECT_EQ(url_path({}, true), "/");
}

}  // namespace
}  // namespace tfilefs
