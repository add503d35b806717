// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tfile/writer.h"

// Writes a ROOT file with an empty directory in it.
inline void write_root_file(const std::filesystem::path& path) {
  auto writer = tfile::FileWriter::create(path.filename(), {});
  ASSERT_TRUE(writer && (*writer)->make_directory("d"));
  const auto plan = (*writer)->plan(0);
  ASSERT_TRUE(plan);
  std::ofstream file(path, std::ios::binary);
  for (const tfile::CommitStep& step : plan->steps) {
    file.seekp(static_cast<std::streamoff>(step.offset));
    file.write(reinterpret_cast<const char*>(step.bytes.data()), static_cast<std::streamsize>(step.bytes.size()));
  }
}
