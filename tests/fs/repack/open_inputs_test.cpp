// SPDX-License-Identifier: Apache-2.0
#include "repack/open_inputs.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <vector>

#include "made_root_file.h"
#include "temporary_directory.h"
#include "tfile/source.h"

namespace tfilefs {
namespace {

TEST(OpenInputs, TheFirstFilesAreOpenedOnceAndTheOthersNeedNoDescriptorOfTheirOwn) {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "x.root";
  write_root_file(path);
  OpenInputs inputs(std::vector<ChainName>(100, {path.string(), ""}), {});
  std::size_t kept = 0;
  for (std::size_t number = 0; number < 100; ++number) {
    const auto first = inputs.open(number), again = inputs.open(number);
    ASSERT_TRUE(first && again);
    kept += *first == *again ? 1 : 0;
    EXPECT_TRUE(number > 0 || kept == 1);
  }
  EXPECT_GT(kept, 10u);
  EXPECT_LT(kept, 100u);
}

TEST(OpenInputs, AFileThatIsOverwrittenIsReadNoMore) {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "x.root";
  write_root_file(path);
  OpenInputs inputs({{path.string(), ""}}, {});
  const auto opened = inputs.open(0);
  ASSERT_TRUE(opened);
  std::vector<std::byte> bytes(100);
  ASSERT_TRUE(tfile::read_range((*opened)->source(), {0, bytes.size()}, bytes));
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  constexpr std::streamoff kUuidAt = 47;  // in the header: can be any bytes
  file.seekp(kUuidAt).put('x').flush();
  const auto read = tfile::read_range((*opened)->source(), {0, bytes.size()}, bytes);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::stale) << read.error().text;
}

TEST(OpenInputs, AFileThatIsNotThereIsNamed) {
  OpenInputs inputs({{"/nowhere/x.root", ""}}, {});
  const auto opened = inputs.open(0);
  ASSERT_FALSE(opened);
  EXPECT_TRUE(opened.error().text.starts_with("/nowhere/x.root")) << opened.error().text;
}

}  // namespace
}  // namespace tfilefs
