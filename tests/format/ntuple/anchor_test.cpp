// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "ntuple/description.h"

namespace tfile {
namespace {

std::string version_of(std::vector<unsigned char> payload) { return trial_version(std::as_bytes(std::span(payload))); }

TEST(Anchor, OfATrialFormatTellsItsVersion) {
  EXPECT_EQ(version_of({0x40, 0, 0, 0x36, 0, 0, 0x65, 0x5b, 0x8f, 0x56, 0, 0, 0, 0}), "class version 0");
  EXPECT_EQ(version_of({0x40, 0, 0, 0x36, 0, 3, 0xc9, 0x47, 0x08, 0x94, 0, 0, 0, 0}), "class version 3");
  EXPECT_EQ(version_of({0x40, 0, 0, 0x42, 0, 4, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0}), "class version 4, format 0.2.0.1");
  EXPECT_EQ(version_of({0x40, 0, 0, 0x42, 0, 4, 0, 0, 0, 2}), "class version 4");
  EXPECT_EQ(version_of({0x40, 0, 0}), "unknown version");
}

}  // namespace
}  // namespace tfile
