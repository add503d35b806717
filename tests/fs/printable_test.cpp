// SPDX-License-Identifier: Apache-2.0
#include "printable.h"

#include <gtest/gtest.h>

#include <string>

namespace tfilefs {
namespace {

TEST(Printable, LettersOfAllLanguagesStayAsTheyAre) {
  for (const char* text : {"px", "\u00e9t\u00e9", "\u05d0\u05d1", "\u0627\u0644", "\u03bc\u03bd", "\U0001f600", "a\\b"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlsMarksOfDirectionAndSeparatorsAreEscaped) {
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f"), "a\\x0ab\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\u0085\u009b"), "\\xc2\\x85\\xc2\\x9b");
  for (const char* text :
       {"\u0080", "\u009f", "\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u2066", "\u2069"}) {
    const std::string shown = printable(std::string("x") + text + "y");
    EXPECT_EQ(shown.find(text), std::string::npos) << shown;
    EXPECT_EQ(shown.front(), 'x');
    EXPECT_EQ(shown.back(), 'y');
  }
  for (const char* text : {"\u00a0", "\u200d", "\u2030", "\u206a", "\u2065"}) EXPECT_EQ(printable(text), text);
}

TEST(Printable, BytesThatAreNoUtf8AreNoWayAround) {
  EXPECT_EQ(printable("\x9b\xff\x80"), "\\x9b\xff\\x80");
  EXPECT_EQ(printable("\xe2\xe2\x80\xae"), "\xe2\\xe2\\x80\\xae");
  EXPECT_EQ(printable("\xe2\x80"), "\xe2\\x80");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

}  // namespace
}  // namespace tfilefs
