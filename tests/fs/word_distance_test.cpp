// SPDX-License-Identifier: Apache-2.0
#include "word_distance.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

TEST(WordDistance, LettersChangedAddedAndLeftOut) {
  EXPECT_EQ(word_distance("", ""), 0u);
  EXPECT_EQ(word_distance("", "abc"), 3u);
  EXPECT_EQ(word_distance("repack", "repak"), 1u);
  EXPECT_EQ(word_distance("Muon_pt", "Muon_eta"), 2u);
}

TEST(NearestName, TheFirstOfTheNearest) {
  NearestName nearest("chek", 2);
  EXPECT_EQ(nearest.found(), "");
  nearest.look_at("check_all");
  EXPECT_EQ(nearest.found(), "");
  for (const char* name : {"cheese", "check", "cheek"}) nearest.look_at(name);
  EXPECT_EQ(nearest.found(), "check");
}

TEST(NearestName, WhatIsComparedStandsForTheName) {
  NearestName nearest("muon_pt", 0);
  nearest.look_at("muon_pt", "Muon_pt.f4");
  EXPECT_EQ(nearest.found(), "Muon_pt.f4");
}

}  // namespace
}  // namespace tfilefs
