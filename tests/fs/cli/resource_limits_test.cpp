// SPDX-License-Identifier: Apache-2.0
#include "cli/resource_limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/options.h"

namespace tfilefs {
namespace {

// A directory with the files of proc(5) and of control groups.
class Machine {
 public:
  Machine() { std::filesystem::remove_all(root_); }
  ~Machine() { std::filesystem::remove_all(root_); }
  Machine& has(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
    return *this;
  }
  const std::string& root() const { return root_; }

 private:
  static inline int made_ = 0;  // a test may have several
  const std::string root_ =
      testing::TempDir() + "resource_limits" + std::to_string(::getpid()) + "." + std::to_string(++made_);
};

constexpr char kSecond[] = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
constexpr char kMemory[] = "33 24 0:29 / /sys/fs/cgroup/memory rw shared:12 - cgroup cgroup rw,memory\n";

TEST(ResourceLimits, AMachineWithoutGroups) {
  const Machine machine;
  EXPECT_GT(memory_limit(machine.root()).amount, 1u << 20);
  EXPECT_EQ(memory_limit(machine.root()).from, "");
  EXPECT_GE(core_limit(machine.root()).amount, 1u);
  EXPECT_EQ(core_limit(machine.root()).from, "");
}

TEST(ResourceLimits, TheLeastOfTheGroupsAboveCounts) {
  Machine machine;
  machine.has("/proc/self/cgroup", "0::/user/run/step\n")
      .has("/proc/self/mountinfo", kSecond)
      .has("/sys/fs/cgroup/user/run/step/memory.max", "max\n")
      .has("/sys/fs/cgroup/user/run/step/memory.high", "max\n")
      .has("/sys/fs/cgroup/user/run/memory.max", "30000000\n")
      .has("/sys/fs/cgroup/user/memory.max", "40000000\n");
  EXPECT_EQ(memory_limit(machine.root()).amount, 30'000'000u);
  EXPECT_EQ(memory_limit(machine.root()).from, "/sys/fs/cgroup/user/run/memory.max");
  machine.has("/sys/fs/cgroup/user/memory.high", "20000000\n");
  EXPECT_EQ(memory_limit(machine.root()).amount, 20'000'000u);
  EXPECT_EQ(memory_limit(machine.root()).from, "/sys/fs/cgroup/user/memory.high");
}

TEST(ResourceLimits, TheFirstVersion) {
  Machine machine;
  machine.has("/proc/self/cgroup", "4:cpuset,memory:/job\n0::/\n")
      .has("/proc/self/mountinfo", kMemory)
      .has("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(memory_limit(machine.root()).from, "");
  machine.has("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "31457280\n");
  EXPECT_EQ(memory_limit(machine.root()).amount, 31'457'280u);
}

// A limit of a pod or a job, above the group that is all that a container shows.
TEST(ResourceLimits, TheFirstVersionTellsLimitsThatAreNotShown) {
  Machine machine;
  machine.has("/proc/self/cgroup", "4:memory:/\n")
      .has("/proc/self/mountinfo", kMemory)
      .has("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
      .has("/sys/fs/cgroup/memory/memory.stat",
           "cache 4096\nrss 0\nhierarchical_memory_limit 30000000\ntotal_cache 4096\n");
  EXPECT_EQ(memory_limit(machine.root()).amount, 30'000'000u);
  EXPECT_EQ(memory_limit(machine.root()).from, "/sys/fs/cgroup/memory/memory.stat");
  machine.has("/sys/fs/cgroup/memory/memory.limit_in_bytes", "30000000\n");
  EXPECT_EQ(memory_limit(machine.root()).from, "/sys/fs/cgroup/memory/memory.limit_in_bytes") << "where it is set";
}

// With a namespace of its own a container sees "/"; without one, the path of the host, at the mount point itself.
TEST(ResourceLimits, InAContainer) {
  Machine machine;
  machine.has("/proc/self/cgroup", "0::/\n")
      .has("/proc/self/mountinfo", kSecond)
      .has("/sys/fs/cgroup/memory.max", "30000000\n");
  EXPECT_EQ(memory_limit(machine.root()).amount, 30'000'000u);
  Machine other;
  other.has("/proc/self/cgroup", "4:memory:/docker/1f\n")
      .has("/proc/self/mountinfo", "33 24 0:29 /docker/1f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n")
      .has("/sys/fs/cgroup/memory/memory.limit_in_bytes", "20000000\n");
  EXPECT_EQ(memory_limit(other.root()).amount, 20'000'000u);
}

// The table of mounts writes backslashes and blanks as numbers, the list of groups does not.
TEST(ResourceLimits, NamesWithBackslashesAndBlanks) {
  Machine machine;
  machine.has("/proc/self/cgroup", "0::/run\\x2d1/step 1\n")
      .has("/proc/self/mountinfo", "30 23 0:26 /run\\134x2d1 /sys/fs/control\\040groups rw - cgroup2 cgroup2 rw\n")
      .has("/sys/fs/control groups/step 1/memory.max", "30000000\n");
  EXPECT_EQ(memory_limit(machine.root()).amount, 30'000'000u);
}

TEST(ResourceLimits, PartsOfCoresAreRoundedUp) {
  Machine machine;
  machine.has("/proc/self/cgroup", "0::/run\n")
      .has("/proc/self/mountinfo", kSecond)
      .has("/sys/fs/cgroup/run/cpu.max", "50000 100000\n");
  EXPECT_EQ(core_limit(machine.root()).amount, 1u);
  machine.has("/sys/fs/cgroup/run/cpu.max", "max 100000\n");
  EXPECT_EQ(core_limit(machine.root()).from, "");
  Machine first;
  first.has("/proc/self/cgroup", "5:cpu,cpuacct:/run\n")
      .has("/proc/self/mountinfo", "31 24 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n")
      .has("/sys/fs/cgroup/cpu/run/cpu.cfs_quota_us", "20000\n")
      .has("/sys/fs/cgroup/cpu/run/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(core_limit(first.root()).amount, 1u);
  first.has("/sys/fs/cgroup/cpu/run/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(core_limit(first.root()).from, "");
}

TEST(ResourceLimits, FilesThatAreNoneOfTheKernel) {
  Machine machine;
  machine.has("/proc/self/cgroup", "\n::\n0::\n0:/x\n0::/a/../b\n")
      .has("/proc/self/mountinfo", " - cgroup2\n - \n\n30 - cgroup2 a b\n");
  EXPECT_EQ(memory_limit(machine.root()).from, "");
  EXPECT_EQ(core_limit(machine.root()).from, "");
}

TEST(ResourceLimits, AQuarterIsTheDefaultOfTheCache) {
  EXPECT_EQ(default_memory(400u << 20), 100u << 20);
  EXPECT_EQ(default_memory(1u << 20), 16u << 20);
  EXPECT_EQ(default_memory(64ull << 30), 4ull << 30);
}

}  // namespace
}  // namespace tfilefs
