// SPDX-License-Identifier: Apache-2.0
// Real files: every tree of every file in the directory in TFILEFS_CORPUS (which contains a directory files/).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "compression/frame.h"
#include "streamer/info/streamer_info.h"
#include "tfile/file.h"
#include "tree/record/basket.h"
#include "tree/record/tree_record.h"

namespace tfile {
namespace {

std::vector<std::byte> bytes_at(const Source& source, std::uint64_t begin, std::uint64_t size) {
  std::vector<std::byte> bytes(size);
  const auto read = read_range(source, {begin, size}, bytes);
  EXPECT_TRUE(read) << read.error().text;
  return bytes;
}

class CorpusFile {
 public:
  explicit CorpusFile(const File& file) : file_(file), infos_(read_infos()) {}

  void check(const DirectoryListing& listing) {
    if (!seen_.insert(listing.seek).second) return;
    for (const KeyInfo& key : listing.keys) {
      if (key.kind == KeyKind::directory) {
        if (const auto inner = file_.directory(key)) check(**inner);
      } else if (key.kind == KeyKind::table && key.class_name.find("RNTuple") == std::string_view::npos) {
        check_tree(key);
      }
    }
  }
  std::size_t trees = 0, branches = 0;

 private:
  StreamerInfos read_infos() {
    std::vector<std::string> warnings;
    const FileHeader& header = file_.header();
    if (header.seek_info <= 0 || header.nbytes_info <= 0) return StreamerInfos::read({}, 0, warnings);
    const auto record = bytes_at(file_.source(), static_cast<std::uint64_t>(header.seek_info),
                                 static_cast<std::uint64_t>(header.nbytes_info));
    const auto objlen = load_big<std::uint32_t>(record.data() + 6);
    const auto keylen = load_big<std::uint16_t>(record.data() + 14);
    const auto payload = decompress(std::span(record).subspan(keylen), objlen);
    EXPECT_TRUE(payload);
    if (!payload) return StreamerInfos::read({}, 0, warnings);
    StreamerInfos infos = StreamerInfos::read(payload->span(), keylen, warnings);
    EXPECT_TRUE(warnings.empty()) << warnings.front();
    return infos;
  }
  void check_tree(const KeyInfo& key) {
    const auto record = bytes_at(file_.source(), key.seek, key.nbytes);
    const auto payload = decompress(std::span(record).subspan(key.keylen), key.objlen);
    ASSERT_TRUE(payload) << payload.error().text;
    const auto tree = read_tree(payload->span(), key.keylen, std::string(key.class_name), infos_);
    ASSERT_TRUE(tree) << key.name << ": " << tree.error().text;
    EXPECT_TRUE(tree->warnings.empty()) << key.name << ": " << tree->warnings.front();
    ++trees;
    for (const BranchRecord& branch : tree->branches) check_branch(branch);
  }
  void check_branch(const BranchRecord& branch) {
    ++branches;
    EXPECT_FALSE(branch.name.empty());
    if (!branch.file_name.empty()) return;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < branch.baskets.seek.size(); ++i) {
      const std::uint64_t seek = branch.baskets.seek[i];
      if (seek == 0) continue;
      const auto basket = read_basket(bytes_at(file_.source(), seek, branch.baskets.nbytes[i]));
      ASSERT_TRUE(basket) << branch.name << ": " << basket.error().text;
      EXPECT_EQ(basket->header.entries, (*branch.baskets.entry)[i + 1] - (*branch.baskets.entry)[i]) << branch.name;
      total += basket->header.keylen + basket->header.objlen;
    }
    EXPECT_EQ(total, static_cast<std::uint64_t>(branch.tot_bytes)) << branch.name;
    for (const EmbeddedBasket& basket : branch.embedded) {
      EXPECT_EQ(basket.entries, (*branch.baskets.entry)[basket.index + 1] - (*branch.baskets.entry)[basket.index])
          << branch.name;
    }
  }

  const File& file_;
  StreamerInfos infos_;
  std::set<std::uint64_t> seen_;
};

TEST(Corpus, EveryTreeAndBasket) {
  const char* corpus = std::getenv("TFILEFS_CORPUS");
  if (!corpus) GTEST_SKIP() << "TFILEFS_CORPUS is not set";
  std::size_t trees = 0, branches = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(corpus) / "files")) {
    SCOPED_TRACE(entry.path().filename().string());
    auto source = open_source(entry.path().string());
    ASSERT_TRUE(source);
    const auto file = File::open(*source);
    if (!file) continue;  // damaged on purpose
    CorpusFile checked(**file);
    checked.check(*(*file)->root());
    trees += checked.trees;
    branches += checked.branches;
  }
  EXPECT_GT(trees, 0u);
  EXPECT_GT(branches, trees);
}

}  // namespace
}  // namespace tfile
