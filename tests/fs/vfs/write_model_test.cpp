// SPDX-License-Identifier: Apache-2.0
// Random operations on a ROOT file that is written, commits, time that passes, crashes and faults between any two of
// them or within one, against a model.
#include "fs/vfs/write_model.h"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "fs/campaign.h"

namespace tfilefs {
namespace {

constexpr std::uint64_t kOperationsOfAFile = 300;  // then a new one, with its own seed, which is enough to repeat it

TEST(WriteModel, IsWhatAMountIs) {
  const auto [files, first] = campaign_of(10);
  WriteModel::Done all;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < files; ++i) {
    WriteModel model(first + i);
    ASSERT_NO_THROW(model.run(kOperationsOfAFile));
    all.operations += model.done().operations;
    all.commits += model.done().commits;
    all.mounts += model.done().mounts;
    all.crashes += model.done().crashes;
    all.faults += model.done().faults;
    all.waits += model.done().waits;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << "TFILEFS_CRASH_SEED=" << first << ": " << all.operations << " operations, " << all.commits
            << " commits, " << all.mounts << " mounts, " << all.crashes << " crashes, " << all.faults << " faults, "
            << all.waits << " waits; " << static_cast<std::uint64_t>(static_cast<double>(all.operations) / took.count())
            << " operations a second\n";
}

}  // namespace
}  // namespace tfilefs
