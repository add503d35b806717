// SPDX-License-Identifier: Apache-2.0
#include "http/validators.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

constexpr std::time_t kTime = 784111777;
constexpr const char* kDate = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr const char* kLater = "Sun, 06 Nov 1994 08:49:38 GMT";
constexpr const char* kEarlier = "Sun, 06 Nov 1994 08:49:36 GMT";
const Validators kState{"\"tag\"", kTime};

TEST(HttpDate, IsReadInThreeForms) {
  EXPECT_EQ(http_date(kTime), kDate);
  for (const char* text : {kDate, "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"})
    EXPECT_EQ(parse_http_date(text), kTime) << text;
  for (const char* text : {"", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT+1"})
    EXPECT_EQ(parse_http_date(text), std::nullopt) << text;
}

Verdict of(const Conditions& conditions) { return verdict(conditions, kState); }

TEST(Verdict, IsNotModifiedForWhatTheClientHas) {
  EXPECT_EQ(of({}), Verdict::send);
  for (const char* tags : {"\"tag\"", "W/\"tag\"", "\"a\", \"tag\"", "*"})
    EXPECT_EQ(of({.if_none_match = tags}), Verdict::not_modified) << tags;
  for (const char* tags : {"\"other\"", "tag", ""}) EXPECT_EQ(of({.if_none_match = tags}), Verdict::send) << tags;
  EXPECT_EQ(of({.if_modified_since = kDate}), Verdict::not_modified);
  EXPECT_EQ(of({.if_modified_since = kEarlier}), Verdict::send);
  // A tag says more than a date.
  EXPECT_EQ(of({.if_none_match = "\"other\"", .if_modified_since = kLater}), Verdict::send);
}

TEST(Verdict, FailsForWhatTheClientDoesNotHave) {
  EXPECT_EQ(of({.if_match = "\"tag\""}), Verdict::send);
  EXPECT_EQ(of({.if_match = "*"}), Verdict::send);
  for (const char* tags : {"\"other\"", "W/\"tag\""}) EXPECT_EQ(of({.if_match = tags}), Verdict::failed) << tags;
  EXPECT_EQ(of({.if_unmodified_since = kEarlier}), Verdict::failed);
  EXPECT_EQ(of({.if_unmodified_since = kDate}), Verdict::send);
}

TEST(Verdict, OfAFileWithoutATagIsToSendIt) {
  const Validators made{"", kTime};
  EXPECT_EQ(verdict({.if_none_match = "\"\""}, made), Verdict::send);
  EXPECT_EQ(verdict({.if_modified_since = kLater}, made), Verdict::send);
}

TEST(Range, IsSentIfTheRestIsOfTheSameState) {
  const auto may = [](const char* header, std::time_t now) {
    return may_send_range({.if_range = header}, kState, now);
  };
  EXPECT_TRUE(may_send_range({}, kState, kTime));
  EXPECT_TRUE(may("\"tag\"", kTime));
  EXPECT_FALSE(may("W/\"tag\"", kTime));
  EXPECT_FALSE(may("\"other\"", kTime));
  EXPECT_TRUE(may(kDate, kTime + 2));
  EXPECT_FALSE(may(kDate, kTime + 1));  // it may have changed in that second again
  EXPECT_FALSE(may(kLater, kTime + 9));
  EXPECT_FALSE(may("*", kTime + 9));
}

}  // namespace
}  // namespace tfilefs
