// SPDX-License-Identifier: Apache-2.0
#include "bytes_text.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tfilefs {
namespace {

TEST(BytesText, HasPowersOfAThousand) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1000), "1.0 kB");
  EXPECT_EQ(bytes_text(12'345), "12.3 kB");
  EXPECT_EQ(bytes_text(999'600), "1.0 MB");
  EXPECT_EQ(bytes_text(static_cast<double>(UINT64_MAX)), "18447 PB");
}

}  // namespace
}  // namespace tfilefs
