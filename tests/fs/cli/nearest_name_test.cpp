// SPDX-License-Identifier: Apache-2.0
#include "cli/nearest_name.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

const std::vector<std::string> kNames{"Events", "Muon_pt", "energy.f4", "hits"};

TEST(NearestName, WrongLettersAndWrongCase) {
  EXPECT_EQ(nearest_name("Event", kNames), "Events");
  EXPECT_EQ(nearest_name("EVENTS", kNames), "Events");
  EXPECT_EQ(nearest_name("muon_Pt", kNames), "Muon_pt");
  EXPECT_EQ(nearest_name("Muno_pt", kNames), "Muon_pt");
}

TEST(NearestName, TheTypeOfAColumnNeedNotBeNamed) {
  EXPECT_EQ(nearest_name("enrgy", kNames), "energy.f4");
  EXPECT_EQ(nearest_name("energy.f8", kNames), "energy.f4");
}

TEST(NearestName, WhatIsLikeNoneHasNone) {
  EXPECT_EQ(nearest_name("trigger", kNames), "");
  EXPECT_EQ(nearest_name("", kNames), "");
  EXPECT_EQ(nearest_name(std::string(1000, 'x'), kNames), "");
}

}  // namespace
}  // namespace tfilefs
