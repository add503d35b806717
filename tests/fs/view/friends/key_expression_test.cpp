// SPDX-License-Identifier: Apache-2.0
#include "view/friends/key_expression.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tfilefs {
namespace {

TEST(KeyExpression, ComputesAsTTreeFormula) {
  const std::pair<const char*, long double> cases[] = {
      {"7", 7},
      {"-7", -7},
      {"a", 10},
      {" a + b ", 13},
      {"100*a+b", 1003},
      {"a-b-1", 6},
      {"a/4*4", 10},  // no integers
      {"a%4", 2},
      {"a%0", 0},
      {"a/0", 0},
      {"(a+b)*2", 26},
      {"2^b^2", 512},  // from the right, as in mathematics
      {"-b^2", -9},
      {"a<<b|1", 81},
      {"a&b", 2},
      {"a>b && b==3", 1},
      {"a<=b || !b", 0},
      {"a!=b", 1},
      {"1.5*b", 4.5L},
      {"c.d_1+br.leaf", 30},
      {"c:d+e::f", 30},
      {"0x10+017", 33},                          // hexadecimal, and decimal
      {"9007199254740993*1", 9007199254740993},  // no double
      {"1e30", 1e30L},
      {"1e30|0", 9223372036854775807.0L},  // bits are those of an integer
  };
  for (const auto& [text, wanted] : cases) {
    const auto parsed = KeyExpression::parse(text);
    ASSERT_TRUE(parsed) << text;
    std::vector<long double> inputs;
    for (const std::string& name : parsed->names()) inputs.push_back(name == "a" ? 10 : name == "b" ? 3 : 15);
    EXPECT_EQ(parsed->value(inputs), wanted) << text;
  }
  EXPECT_EQ(KeyExpression::parse("x+y*x")->names(), (std::vector<std::string>{"x", "y"}));
}

TEST(KeyExpression, WhatIsNoneIsRefused) {
  const std::string cases[] = {"",
                               "a+",
                               "(a",
                               "a)",
                               "int(a)",
                               "a[0]",
                               "Entry$",
                               "1a",
                               "a**b",
                               "+a",
                               "~a",
                               "a?b:1",
                               "::a",
                               "@a",
                               "[0]",
                               "a b",
                               "a=b",
                               "*a",
                               std::string("a+\0b", 4),
                               std::string(60, '('),
                               std::string(900, '-') + "1",
                               std::string(2000, '1')};
  for (const std::string& text : cases) {
    const auto parsed = KeyExpression::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::unsupported);
  }
}

TEST(KeyExpression, AnyTextIsComputedOrRefused) {
  std::mt19937 random(3);
  const std::string letters = "ab10.()+-*/%^<>=!&| ";
  std::size_t computed = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (std::size_t n = random() % 12; n-- > 0;) text += letters[random() % letters.size()];
    const auto parsed = KeyExpression::parse(text);
    if (!parsed) continue;
    (void)parsed->value(std::vector<long double>(parsed->names().size(), -1e19L));
    ++computed;
  }
  EXPECT_GT(computed, 1000u);
}

}  // namespace
}  // namespace tfilefs
