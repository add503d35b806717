// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/commands.h"

namespace tfilefs {
namespace {

std::string said(const char* word) { return no_such_command(word).value_or("it may be a source"); }

TEST(NoSuchCommand, WordsOfOtherProgramsLeadOn) {
  for (const auto& [word, command] :
       {std::pair("list", "ls"), std::pair("convert", "repack"), std::pair("Hadd", "repack"),
        std::pair("unmount", "umount"), std::pair("plot", "draw"), std::pair("head", "cat"),
        std::pair("schema", "info"), std::pair("select", "repack"), std::pair("lss", "ls"),
        std::pair("checks", "check")})
    EXPECT_NE(said(word).find("did you mean tfilefs " + std::string(command) + " "), std::string::npos) << said(word);
}

TEST(NoSuchCommand, IsOneLineWithoutOptions) {
  EXPECT_EQ(said("hadd"), "no such command or file: 'hadd'; did you mean tfilefs repack IN... OUT?");
}

TEST(NoSuchCommand, OtherWordsMayBeSources) {
  EXPECT_EQ(said("data.root"), "it may be a source");
  EXPECT_EQ(said("qwertyuiop"), "no such command or file: 'qwertyuiop'; tfilefs --help lists all commands");
}

}  // namespace
}  // namespace tfilefs
