// SPDX-License-Identifier: Apache-2.0
#include "array/thrift_writer.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

// The number of a field is written as the step from the previous field, in four bits, or else in full.
TEST(ThriftWriter, FieldsFarApartAreNumberedInFull) {
  ThriftWriter out;
  out.begin_struct();
  out.field(1, 5);
  out.field(16, 5);  // a step of 15
  out.field(32, 5);  // of 16
  out.field(3, 5);   // backward
  out.end_struct();
  const std::string wanted = {'\x15', '\x0a', '\xf5', '\x0a', '\x05', '\x40', '\x0a', '\x05', '\x06', '\x0a', '\0'};
  EXPECT_EQ(out.take(), wanted);
}

TEST(ThriftWriter, TruthIsInTheType) {
  ThriftWriter out;
  out.begin_struct();
  out.field(1, true);
  out.field(2, false);
  out.end_struct();
  const std::string wanted = {'\x11', '\x12', '\0'};
  EXPECT_EQ(out.take(), wanted);
}

}  // namespace
}  // namespace tfilefs
