// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tfilefs {
namespace {

TEST(Options, Sizes) {
  EXPECT_EQ(parse_size("512"), 512u);
  EXPECT_EQ(parse_size("64K"), 65536u);
  EXPECT_EQ(parse_size("3m"), 3u << 20);
  EXPECT_EQ(parse_size("4G"), 4ull << 30);
  EXPECT_EQ(parse_size("512MiB"), 512u << 20);
  EXPECT_EQ(parse_size("2GB"), 2'000'000'000u);
  EXPECT_EQ(parse_size("30kb"), 30'000u);
  EXPECT_EQ(parse_size("7B"), 7u);
  EXPECT_EQ(parse_size("1.5G"), 3ull << 29);
  EXPECT_EQ(parse_size("2 GB"), 2'000'000'000u);
  EXPECT_EQ(parse_size("0.25 kB"), 250u);
  for (const char* wrong : {"", "K", "KB", "-1", "1.5", "1.G", ".5G", " 2G", "2  G", "4GBs", "4BB", "4iB", "4X",
                            "99999999999T", "99999999999TB", "0x10"})
    EXPECT_FALSE(parse_size(wrong)) << wrong;
}

TEST(Options, ValuesAreTakenInAnyCase) {
  const auto options = parse_mount_options({"views=Listed,strings=BINARY"});
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->file_system.views_listed);
}

TEST(Options, UsersAndGroupsHaveNames) {
  const auto options = parse_mount_options({"uid=root,gid=root"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->file_system.ownership.uid, 0u);
  EXPECT_EQ(options->file_system.ownership.gid, 0u);
  EXPECT_EQ(parse_mount_options({"uid=nobody.of.this.name"}).error().text,
            "option uid=nobody.of.this.name: expected a user: a name or a number");
}

TEST(Options, AreTaken) {
  const auto options = parse_mount_options(
      {"memory=1G,threads=3,readahead=1M,strings=binary", "views=listed,allow_other,uid=5,umask=027,idle=60,noatime"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->file_system.cache.memory, 1ull << 30);
  EXPECT_EQ(options->file_system.cache.threads, 3u);
  EXPECT_EQ(options->file_system.cache.readahead, 1u << 20);
  EXPECT_TRUE(options->file_system.views_listed);
  EXPECT_EQ(options->file_system.strings, StringsAs::binary);
  EXPECT_TRUE(options->allow_other);
  EXPECT_EQ(options->file_system.ownership.uid, 5u);
  EXPECT_FALSE(options->file_system.ownership.gid);
  EXPECT_EQ(options->file_system.ownership.umask, static_cast<mode_t>(027));
  EXPECT_EQ(options->idle, std::chrono::seconds(60));
  EXPECT_EQ(options->kernel_options, std::vector<std::string>{"noatime"});
}

TEST(Options, TheLastCounts) {
  EXPECT_EQ(parse_mount_options({"threads=1,threads=2", "threads=4"})->file_system.cache.threads, 4u);
  EXPECT_FALSE(parse_mount_options({"rw,ro"})->file_system.write);
  EXPECT_TRUE(parse_mount_options({"ro,rw"})->file_system.write);
}

TEST(Options, TheCacheOnDiskHasAPlaceAndASize) {
  const auto remote = [](const char* option) { return parse_mount_options({option})->file_system.remote; };
  EXPECT_EQ(remote("ro").cache_directory, "");
  EXPECT_EQ(remote("diskcache=/c").cache_directory, "/c");
  EXPECT_EQ(remote("diskcache=/c").cache_bytes, 10ull << 30);
  EXPECT_EQ(remote("diskcache=/c:20G").cache_directory, "/c");
  EXPECT_EQ(remote("diskcache=/c:20G").cache_bytes, 20ull << 30);
  EXPECT_EQ(remote("diskcache=/c:d").cache_directory, "/c:d");
  EXPECT_EQ(remote("diskcache=/c:1:2M").cache_directory, "/c:1");
}

TEST(Options, AFriendsKeyHasACommaOfItsOwn) {
  const auto options = parse_mount_options({"friend=a=f.root@run,event,views=listed,friend=b=g\\,h.root,ro",
                                            "friend=c=f.root@run,noexec", "friend=d=f.root@x\\,ro"});
  ASSERT_TRUE(options) << options.error().text;
  EXPECT_TRUE(options->file_system.views_listed);
  const auto& friends = options->file_system.friends;
  ASSERT_EQ(friends.size(), 4u);
  const struct {
    const char *alias, *source, *major, *minor;
  } wanted[] = {{"a", "f.root", "run", "event"},
                {"b", "g,h.root", "", ""},
                {"c", "f.root", "run", ""},
                {"d", "f.root", "x", "ro"}};
  for (std::size_t i = 0; i < friends.size(); ++i) {
    EXPECT_EQ(friends[i].alias, wanted[i].alias);
    EXPECT_EQ(friends[i].source, wanted[i].source);
    EXPECT_EQ(friends[i].key ? friends[i].key->major : "", wanted[i].major);
    EXPECT_EQ(friends[i].key ? friends[i].key->minor : "", wanted[i].minor);
  }
  EXPECT_EQ(options->kernel_options, std::vector<std::string>{"noexec"});
  EXPECT_FALSE(parse_mount_options({"friend=a=f.root,event"})) << "no key is open";
}

TEST(Options, AContextOfSelinuxHasCommasInQuotes) {
  const auto options = parse_mount_options({R"(ro,context="system_u:object_r:nfs_t:s0:c1,c2",noexec)",
                                            R"(rootcontext=a:b:c:s0,fscontext=a:b:c:s0:c1\,c2,memory=8M)"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->contexts, (std::vector<std::string>{R"(context="system_u:object_r:nfs_t:s0:c1,c2")",
                                                         "rootcontext=a:b:c:s0", R"(fscontext="a:b:c:s0:c1,c2")"}));
  EXPECT_EQ(options->kernel_options, std::vector<std::string>{"noexec"});
  EXPECT_EQ(options->file_system.cache.memory, 8u << 20);
  EXPECT_FALSE(parse_mount_options({"context="}));
}

TEST(Options, WhatMountSaysIsPassedOver) {
  EXPECT_TRUE(parse_mount_options(
      {"ro,dev,suid,nodev,nosuid,async,auto,noauto,user,_netdev,nofail,x-systemd.automount,defaults,,"}));
  const auto times = parse_mount_options({"noatime,nodiratime,strictatime,relatime,lazytime"});
  ASSERT_TRUE(times);
  EXPECT_EQ(times->kernel_options, std::vector<std::string>{"noatime"}) << "libfuse 3.14 refuses the others";
  EXPECT_FALSE(parse_mount_options({"rw,dev,suid"})->file_system.write) << "what mount(8) says of its own accord";
  EXPECT_TRUE(parse_mount_options({"rw,dev,suid,writable"})->file_system.write);
  EXPECT_TRUE(parse_mount_options({"ro,writable"})->file_system.write);
  EXPECT_FALSE(parse_mount_options({"writable,ro"})->file_system.write) << "the last word counts";
}

TEST(Options, WhatCannotBeIsRefused) {
  for (const char* wrong : {"compression=best", "autoflush=0", "commit=x", "views=all", "views", "memory=1",
                            "memory=lots", "threads=0", "threads=x", "prefetch=yes", "uid=no.such.user", "umask=8",
                            "idle=-1", "nonsense", "timeout=0", "diskcache=", "diskcache=:1G", "diskcache=/c:1000"}) {
    const auto options = parse_mount_options({wrong});
    ASSERT_FALSE(options) << wrong;
    EXPECT_EQ(options.error().kind, ErrorKind::invalid);
    const std::string name(std::string_view(wrong).substr(0, std::string_view(wrong).find('=')));
    EXPECT_NE(options.error().text.find(name), std::string::npos) << options.error().text;
  }
}

TEST(Options, ConfigIsJsonWhateverTheNames) {
  const MountOptions options = *parse_mount_options({"memory=2G"});
  const auto json = nlohmann::json::parse(config_text({"/data/\xff\n.root", "b"}, "/mnt", options, ConfigForm::lines));
  const std::string line = config_text({"/data/\xff\n.root", "b"}, "/mnt", options, ConfigForm::one_line);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(line), json);
  EXPECT_EQ(json["memory"], 2ull << 30);
  EXPECT_EQ(json["mount_point"], "/mnt");
  EXPECT_EQ(json["sources"].size(), 2u);
  EXPECT_EQ(json["sources"][0], json["source"]);
  EXPECT_TRUE(json["idle"].is_null());
}

}  // namespace
}  // namespace tfilefs
