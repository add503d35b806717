// SPDX-License-Identifier: Apache-2.0
#include "error_log.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tfilefs {
namespace {

TEST(ErrorLog, ALineSaysWhereAndWhy) {
  ErrorLog log;
  log.add("/t/x", Error{ErrorKind::damaged, "basket: too short", 4096, 0});
  const std::string text = log.text();
  EXPECT_EQ(text.substr(text.find(' ')), " /t/x: basket: too short (at byte 4096)\n");
  EXPECT_EQ(text[10], 'T');
}

TEST(ErrorLog, HostileNamesForgeNothing) {
  ErrorLog log;
  log.add("/a\nb\x1b[31m", "\x7f");
  const std::string text = log.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_NE(text.find("/a\\x0ab\\x1b[31m: \\x7f"), std::string::npos);
}

TEST(ErrorLog, TheSameAgainIsCounted) {
  ErrorLog log;
  for (int i = 0; i < 5; ++i) log.add("/x", "no"), log.add("/y", "no");
  const std::string text = log.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_NE(text.find("/x: no [5 times]\n"), std::string::npos);
  EXPECT_EQ(log.count(), 10u);
}

TEST(ErrorLog, WhatADirectoryHadIsCountedForItsFiles) {
  ErrorLog log;
  const Error error{ErrorKind::damaged, "zlib: no", 4096, 0};
  log.add("/h", error), log.add("/h/object.json", error), log.add("/other/object.json", error);
  const std::string text = log.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_NE(text.find(" /h: zlib: no (at byte 4096) [2 times]\n"), std::string::npos);
  EXPECT_NE(text.find(" /other/object.json: zlib: no (at byte 4096)\n"), std::string::npos);
}

TEST(ErrorLog, WithoutAPlaceInTheFileEachHasItsLine) {
  ErrorLog log;
  log.add("/t", "cannot be changed"), log.add("/t/x.i4", "cannot be changed");
  EXPECT_NE(log.text().find(" /t: cannot be changed\n"), std::string::npos);
  EXPECT_NE(log.text().find(" /t/x.i4: cannot be changed\n"), std::string::npos);
}

TEST(ErrorLog, IsBounded) {
  ErrorLog log;
  for (int i = 0; i < 1000; ++i) log.add("/" + std::to_string(i), std::string(100000, 'x'));
  EXPECT_LT(log.text().size(), 2u << 20);
  EXPECT_NE(log.text().find("/999: "), std::string::npos);
  EXPECT_EQ(log.text().find(" /0: "), std::string::npos);
}

}  // namespace
}  // namespace tfilefs
