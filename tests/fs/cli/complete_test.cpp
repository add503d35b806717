// SPDX-License-Identifier: Apache-2.0
#include "cli/complete.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/description.h"
#include "cli/options.h"
#include "temporary_directory.h"

namespace tfilefs {
namespace {

std::vector<std::string> words(std::vector<std::string> typed) {
  std::vector<std::string> found;
  for (const auto& offer : completion_of(typed).offers) found.push_back(offer.word);
  return found;
}

using List = std::vector<std::string>;

TEST(Complete, CommandsAndFlags) {
  EXPECT_EQ(words({"um"}), List{"umount"});
  EXPECT_EQ(words({"umount", "--l"}), List{"--lazy"});
  EXPECT_EQ(words({"ls", "-l", "--j"}), List{"--json"});
  EXPECT_TRUE(words({"complet"}) == List{"completion"}) << "what is for programs is not offered";
  EXPECT_TRUE(completion_of(List{""}).files);
  EXPECT_TRUE(completion_of(List{"a.root", ""}).files);
  EXPECT_TRUE(completion_of(List{"classes", "a.root", ""}).directories);
  EXPECT_FALSE(completion_of(List{"classes", "a.root", "d", ""}).directories);
  EXPECT_TRUE(words({}).empty());
}

TEST(Complete, OptionsOfMounts) {
  EXPECT_EQ(words({"-o", "mem"}), List{"memory="});
  EXPECT_EQ(words({"-o", "ro,mem"}), List{"ro,memory="});
  EXPECT_EQ(words({"-o", "ro,prefetch=l"}), List{"ro,prefetch=learn"});
  EXPECT_EQ(words({"ls", "-o", "views="}), (List{"views=hidden", "views=listed"}));
  EXPECT_TRUE(words({"stats", "-w", ""}).empty());
}

TEST(Complete, PathsOfOptions) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.path().string() + "/cache");
  std::ofstream(directory.path().string() + "/calm.txt");
  const std::string typed = "rw,diskcache=" + directory.path().string() + "/ca";
  EXPECT_EQ(words({"-o", typed}), List{typed + "che/"});
  const std::string file = "logfile=" + directory.path().string() + "/ca";
  EXPECT_EQ(words({"-o", file}).size(), 2u);
}

TEST(Complete, WhatALineCannotHoldIsNotOffered) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path().string() + "/bad\nname.root");
  std::ofstream(directory.path().string() + "/good.root");
  EXPECT_EQ(words({"ls", directory.path().string() + "/"}), List{directory.path().string() + "/good.root/"});
}

// An option that takes what its own description offers is in the parser, too.
TEST(Description, OptionsTakeWhatTheyOffer) {
  for (const MountOption& option : mount_options()) {
    for (const std::string_view choice : option.choices)
      EXPECT_TRUE(parse_mount_options({"chain", std::string(option.name) + "=" + std::string(choice)})) << choice;
    if (!option.wanted.empty() && !option.value.starts_with('[')) {
      EXPECT_FALSE(parse_mount_options({std::string(option.name) + "="})) << option.name;
    }
    EXPECT_EQ(option.does.find('\n'), std::string_view::npos);
    EXPECT_FALSE(option.does.ends_with('.')) << option.name;
  }
  for (const std::string_view name : passed_over_options()) EXPECT_TRUE(parse_mount_options({std::string(name)}));
}

TEST(Description, ChoicesAreAsValuesAreCalled) {
  EXPECT_EQ(parse_mount_options({"log=error"})->log, Severity::error);
  EXPECT_EQ(parse_mount_options({"log=debug"})->log, Severity::debug);
  EXPECT_EQ(parse_mount_options({"log=debug"})->log_form, LogOptions::Form::text);
  EXPECT_EQ(parse_mount_options({"log=debug,log=json"})->log, std::nullopt) << "the last counts";
  EXPECT_EQ(parse_mount_options({"log=json"})->log_form, LogOptions::Form::json);
  EXPECT_EQ(parse_mount_options({"log=json:warn"})->log, Severity::warn);
  EXPECT_EQ(parse_mount_options({"log=json:warn"})->log_form, LogOptions::Form::json);
  for (const char* const wrong :
       {"log=json:", "log=json:json", "log=jsonwarn", "log=warn:json", "log=", "log=json,warn"})
    EXPECT_FALSE(parse_mount_options({wrong})) << wrong;
  EXPECT_EQ(parse_mount_options({"prefetch=off"})->file_system.cache.prefetch, Prefetch::off);
  EXPECT_EQ(parse_mount_options({"strings=utf8"})->file_system.strings, StringsAs::utf8);
  EXPECT_EQ(parse_mount_options({"lifeline=7"})->lifeline, 7);
  EXPECT_FALSE(parse_mount_options({"lifeline=x"}));
}

TEST(Description, UsageIsMadeOfIt) {
  EXPECT_EQ(usage_of(*find_command("umount")), "[--lazy] [--discard] MNT");
  EXPECT_EQ(usage_of(*find_command("classes")), "SOURCE DIR");
  EXPECT_EQ(find_command("mount"), nullptr);
}

}  // namespace
}  // namespace tfilefs
