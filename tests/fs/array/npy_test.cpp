// SPDX-License-Identifier: Apache-2.0
#include "array/npy.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

TEST(Npy, HeaderIsAlignedAndSaysItsLength) {
  const std::string header = npy_header(tfile::Dtype::f4, {2, 3}, 12345);
  EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(static_cast<unsigned char>(header[8]) + 256u * static_cast<unsigned char>(header[9]), header.size() - 10);
  EXPECT_EQ(header.substr(10, 70), "{'descr': '<f4', 'fortran_order': False, 'shape': (12345, 2, 3), }    ");
  EXPECT_EQ(header.back(), '\n');
}

TEST(Npy, OneDimensionIsATuple) {
  EXPECT_NE(npy_header(tfile::Dtype::b1, {}, 0).find("'descr': '|b1', 'fortran_order': False, 'shape': (0,), }"),
            std::string::npos);
}

TEST(Npy, ALongHeaderIsVersion2) {
  const std::string header = npy_header(tfile::Dtype::f8, std::vector<std::uint32_t>(20'000, 10), 1);
  EXPECT_EQ(header.substr(6, 2), std::string("\x02\x00", 2));
  EXPECT_EQ(header.size() % 64, 0u);
  std::size_t length = 0;
  for (std::size_t i = 12; i-- > 8;) length = length << 8 | static_cast<unsigned char>(header[i]);
  EXPECT_EQ(length, header.size() - 12);
}

}  // namespace
}  // namespace tfilefs
