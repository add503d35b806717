// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/natural_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace tfilefs {
namespace {

TEST(NaturalOrder, NumbersCountByTheirValue) {
  const std::vector<std::string> wanted{"",
                                        "01",
                                        "1",
                                        "1a",
                                        "2",
                                        "10",
                                        "a",
                                        "a-0.root",
                                        "a-1.root",
                                        "a-02.root",
                                        "a-2.root",
                                        "a-10-3.root",
                                        "a-10.root",
                                        "b99999999999999999999999",
                                        "b100000000000000000000000",
                                        "run 2 part 3",
                                        "run 2 part 12",
                                        "run 10 part 1"};
  std::vector<std::string> mixed = wanted;
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(mixed.begin(), mixed.end(), random);
    std::ranges::sort(mixed, is_before);
    EXPECT_EQ(mixed, wanted);
  }
}

TEST(NaturalOrder, IsAnOrderOfAnyNames) {
  std::mt19937 random(2);
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) {
    std::string name;
    for (std::size_t n = random() % 5; n-- > 0;) name += "019a\xff"[random() % 5];
    names.push_back(name);
  }
  for (const std::string& a : names) {
    for (const std::string& b : names) {
      EXPECT_EQ(is_before(a, b) || is_before(b, a), a != b);
      EXPECT_FALSE(is_before(a, b) && is_before(b, a));
      for (std::size_t i = 0; i < names.size(); i += 7) {
        if (is_before(a, b) && is_before(b, names[i])) {
          EXPECT_TRUE(is_before(a, names[i]));
        }
      }
    }
  }
}

}  // namespace
}  // namespace tfilefs
