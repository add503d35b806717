// SPDX-License-Identifier: Apache-2.0
#include "tfile/file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "container/payload.h"
#include "format/container/file_image.h"
#include "format/streamer/streamer_info_image.h"

namespace tfile {
namespace {

using test::FileImage;
using test::in_memory;

// Path, class and cycle of every key below a directory, up to a limited depth.
using Keys = std::vector<std::string>;
void collect(const File& file, const DirectoryListing& directory, const std::string& path, int depth, Keys& keys,
             std::set<std::uint64_t>& seen) {
  for (const KeyInfo& key : directory.keys) {
    const std::string here = path + std::string(key.name);
    keys.push_back(here + ";" + std::to_string(key.cycle));
    if (key.kind != KeyKind::directory || depth == 0 || !seen.insert(key.seek).second) continue;
    if (const auto below = file.directory(key)) collect(file, **below, here + "/", depth - 1, keys, seen);
  }
}
Keys all_keys(const File& file) {
  Keys keys;
  std::set<std::uint64_t> seen;
  collect(file, *file.root(), "", 20, keys, seen);
  return keys;
}

// Calls everything on a file with arbitrary content: nothing may crash or take much memory.
void ask_everything(const File& file, const DirectoryListing& directory, int depth) {
  for (const KeyInfo& key : directory.keys) {
    unix_time(key.datime);
    const auto payload = read_payload(file.source(), key);
    if (const auto streams = file.payload(key)) {
      EXPECT_LE((*streams)->decoded_size({0, 0}), 1u << 30);
    }
    if (const auto table = file.table(key)) {
      EXPECT_FALSE((*table)->nodes.empty());
    }
    if (depth == 0) continue;
    if (const auto below = file.directory(key)) ask_everything(file, **below, depth - 1);
  }
}
void ask_everything(std::vector<std::byte> bytes) {
  const auto file = File::open(in_memory(std::move(bytes)));
  if (!file) return;
  ask_everything(**file, *(*file)->root(), 3);
  EXPECT_TRUE((*file)->record_map());
}

// Two levels, cycles, a deleted object; `sub` has a list of its own.
FileImage image_with_directories(FileImage::Options options = {}) {
  FileImage image(options);
  auto sub = image.add_directory(image.root, "sub");
  image.add_object(image.root, "TNamed", "one", "first cycle", 1);
  const auto newer = image.add_object(image.root, "TNamed", "one", "second cycle", 2);
  std::swap(image.root.keys[1], image.root.keys[2]);
  image.add_object(sub, "TTree", "tree", "no tree at all");
  auto deep = image.add_directory(sub, "deep", "TDirectoryFile");
  image.add_object(deep, "TObjString", "", "name of nothing");
  image.add_gap(40);
  image.finish_directory(deep, "TDirectoryFile", sub.seek);
  image.finish_directory(sub, "TDirectory", image.root.seek);
  EXPECT_EQ(image.root.keys[1].seek, newer.seek);
  return image;
}
const Keys kKeysOfImage{"sub;1", "sub/tree;1", "sub/deep;1", "sub/deep/;1", "one;2", "one;1"};

TEST(File, ListsDirectoriesOfEveryForm) {
  for (const bool big_header : {false, true}) {
    for (const bool big_keys : {false, true}) {
      for (const std::int32_t begin : {64, 100, 300}) {
        if (big_header && begin < 75) continue;
        FileImage image = image_with_directories({.big_header = big_header, .big_keys = big_keys, .begin = begin});
        const auto file = File::open(in_memory(image.finish()));
        ASSERT_TRUE(file) << file.error().text;
        EXPECT_EQ(all_keys(**file), kKeysOfImage);
        EXPECT_FALSE((*file)->recovered());
        EXPECT_TRUE((*file)->warnings().empty());
        EXPECT_EQ((*file)->header().name, "image.root");
        EXPECT_EQ((*file)->header().title, "an image");
        EXPECT_EQ((*file)->header().big, big_header);
        EXPECT_EQ((*file)->root()->seek, static_cast<std::uint64_t>(begin));
        EXPECT_EQ((*file)->root()->keys[0].kind, KeyKind::directory);
        EXPECT_EQ((*file)->root()->keys[1].kind, KeyKind::object);
        const auto sub = (*file)->directory((*file)->root()->keys[0]);
        ASSERT_TRUE(sub);
        EXPECT_EQ((*sub)->seek, (*file)->root()->keys[0].seek);
        EXPECT_EQ((*sub)->keys[0].kind, KeyKind::table);
      }
    }
  }
}

TEST(File, GoesByStructureNotByTheRootClass) {
  for (const char* class_name : {"", "TStorageFactoryFile", "TMemFile"}) {
    FileImage image({.file_class = class_name});
    image.add_object(image.root, "TNamed", "n", "x");
    const auto file = File::open(in_memory(image.finish()));
    ASSERT_TRUE(file);
    EXPECT_EQ(all_keys(**file), Keys{"n;1"});
  }
}

// A StreamerInfo record of classes that have one base each.
std::vector<std::byte> classes_with_bases(const std::vector<std::pair<std::string, std::string>>& classes) {
  std::vector<StreamerInfo> infos;
  for (const auto& [name, base_name] : classes) {
    StreamerInfo info;
    info.class_name = name;
    info.version = 1;
    StreamerElement base;
    base.kind = ElementKind::base;
    base.name = base_name;
    base.type = 0;
    base.type_name = "BASE";
    info.elements.push_back(base);
    infos.push_back(info);
  }
  constexpr std::uint32_t kKeylen = 26 + 6 + 13 + 1;  // small key; "TList", "StreamerInfo", ""
  return test::streamer_info_record(infos, kKeylen).all();
}

TEST(File, HeirsOfTreesAreTables) {
  FileImage image;
  for (const char* name :
       {"MyTree", "TTreeOfTrees", "RooTuple", "TChain", "TreeChain", "PhantomTree", "CircularTree", "Heir"}) {
    image.add_object(image.root, name, name, "x");
  }
  image.set_streamer_info(image.add_record({"TList", "StreamerInfo", "", 1, 0, image.root.seek, 0, 0, 0},
                                           classes_with_bases({{"MyTree", "TTree"},
                                                               {"TTreeOfTrees", "MyTree"},
                                                               {"RooTuple", "TObject"},
                                                               {"TreeChain", "TChain"},
                                                               {"CircularTree", "CircularTree"},
                                                               {"Heir", "TTree"}})));
  const auto file = File::open(in_memory(image.finish()));
  ASSERT_TRUE(file);
  std::vector<std::string_view> tables;
  for (const KeyInfo& key : (*file)->root()->keys) {
    if (key.kind == KeyKind::table) tables.push_back(key.name);
  }
  EXPECT_EQ(tables, (std::vector<std::string_view>{"MyTree", "TTreeOfTrees"}));
}

TEST(File, ListingCostsNoStreamerInfo) {
  FileImage image;
  image.add_object(image.root, "TTree", "t", "x");
  image.add_object(image.root, "TH1D", "h", "x");
  image.set_streamer_info(image.add_record({"TList", "StreamerInfo", "", 1, 0, image.root.seek, 0, 0, 0},
                                           std::vector<std::byte>(1'000'000)));
  const auto source = in_memory(image.finish());
  const auto file = File::open(source);
  ASSERT_TRUE(file);
  EXPECT_LT(source->bytes_read(), 100'000u) << "the file's ends";
  EXPECT_FALSE((*file)->table((*file)->root()->keys[0])) << "no tree in there, and a StreamerInfo of zeros";
  EXPECT_GT(source->bytes_read(), 1'000'000u);
  const std::uint64_t before = source->bytes_read();
  EXPECT_FALSE((*file)->table((*file)->root()->keys[0]));
  EXPECT_LT(source->bytes_read() - before, 10'000u) << "read once";
}

TEST(File, NtuplesAreTablesWithAReason) {
  FileImage image;
  for (const char* name : {"ROOT::RNTuple", "ROOT::Experimental::RNTuple"})
    image.add_object(image.root, name, name, "anchor");
  const auto file = File::open(in_memory(image.finish()));
  ASSERT_TRUE(file);
  std::set<std::string> reasons;
  for (const KeyInfo& key : (*file)->root()->keys) {
    ASSERT_EQ(key.kind, KeyKind::table);
    const auto table = (*file)->table(key);
    ASSERT_TRUE(table);
    EXPECT_EQ((*table)->kind, "rntuple");
    EXPECT_EQ((*table)->name, key.name);
    EXPECT_TRUE((*table)->columns.empty());
    reasons.insert((*table)->reason);
    EXPECT_TRUE((*file)->payload(key));
  }
  EXPECT_EQ(reasons.size(), 2u);
  EXPECT_FALSE(reasons.contains(""));
}

TEST(File, TrailingBytesAreLegal) {
  auto bytes = image_with_directories().finish();
  bytes.resize(bytes.size() + 5000, std::byte{0xAB});
  const auto file = File::open(in_memory(bytes));
  ASSERT_TRUE(file);
  EXPECT_FALSE((*file)->recovered());
  EXPECT_EQ(all_keys(**file), kKeysOfImage);
}

TEST(File, PayloadIsOneChunkOfBytes) {
  FileImage image;
  image.add_object(image.root, "TNamed", "n", "content");
  image.add_object(image.root, "TNamed", "empty", "");
  const auto file = File::open(in_memory(image.finish()));
  ASSERT_TRUE(file);
  const auto streams = (*file)->payload((*file)->root()->keys[0]);
  ASSERT_TRUE(streams);
  EXPECT_EQ((*streams)->chunk_count(0), 1u);
  EXPECT_EQ((*streams)->slot_count(0), 1u);
  EXPECT_EQ((*streams)->shape(0).items_from, ItemsFrom::metadata);
  EXPECT_EQ((*streams)->extents(0).value().first[0], (std::vector<std::int64_t>{0, 7}));
  EXPECT_EQ((*streams)->lengths(0), std::vector<std::int64_t>{7});
  const auto locator = (*streams)->locate({0, 0});
  ASSERT_TRUE(locator);
  std::vector<std::byte> stored(locator->range.size);
  ASSERT_TRUE(read_range(*locator->source, locator->range, stored));
  const auto chunk = (*streams)->decode({0, 0}, stored, {}, {});
  ASSERT_TRUE(chunk);
  ASSERT_EQ(chunk->arrays[0].size(), 7u);
  EXPECT_EQ(std::memcmp(chunk->arrays[0].data(), "content", 7), 0);
  stored[stored.size() - 20] ^= std::byte{1};  // the strings of the key: it is no longer the record in the list
  stored[18] ^= std::byte{64};
  EXPECT_FALSE((*streams)->decode({0, 0}, std::span(stored).first(20), {}, {}));
  const auto nothing = (*file)->payload((*file)->root()->keys[1]);
  ASSERT_TRUE(nothing);
  EXPECT_EQ((*nothing)->chunk_count(0), 0u);
}

TEST(File, RecordThatIsNotTheOneInTheListIsDamage) {
  FileImage image;
  const auto key = image.add_object(image.root, "TNamed", "n", "content");
  image.add_object(image.root, "TNamed", "other", "content");
  image.bytes().patch(static_cast<std::size_t>(key.seek), -key.nbytes);  // deleted, but still in the list
  const auto file = File::open(in_memory(image.finish()));
  ASSERT_TRUE(file);
  EXPECT_EQ(read_payload((*file)->source(), (*file)->root()->keys[0]).error().kind, ErrorKind::damaged);
  EXPECT_TRUE(read_payload((*file)->source(), (*file)->root()->keys[1])) << "its neighbour is whole";
}

TEST(File, ClaimedSizesAreRefusedBeforeMemoryIsTaken) {
  FileImage image;
  image.root.keys.push_back(
      image.add_record({"TH1D", "h", "", 1, 0, 100, 0, 0, 0}, std::vector<std::byte>(50), 2'000'000'000));
  image.root.keys.push_back({"TH1D", "behind", "", 1, 90'000, 100, 500, 100, 60});
  image.root.keys.push_back({"TH1D", "short", "", 1, 300, 100, 10, 100, 60});
  image.root.keys.push_back({"TH1D", "negative", "", 1, -300, 100, -10, -100, -60});
  const auto file = File::open(in_memory(image.finish()));
  ASSERT_TRUE(file);
  ASSERT_EQ((*file)->root()->keys.size(), 4u);
  for (const KeyInfo& key : (*file)->root()->keys) {
    const auto payload = (*file)->payload(key);
    ASSERT_FALSE(payload) << key.name;
    EXPECT_EQ(payload.error().kind, ErrorKind::damaged);
  }
}

TEST(File, CutFilesAreRecoveredWithTheirDirectories) {
  FileImage image = image_with_directories();
  auto bytes = image.finish();
  bytes.resize(bytes.size() - 20);
  const auto file = File::open(in_memory(bytes));
  ASSERT_TRUE(file) << file.error().text;
  EXPECT_TRUE((*file)->recovered());
  EXPECT_EQ((*file)->warnings().size(), 1u);
  EXPECT_EQ(all_keys(**file), kKeysOfImage);
}

TEST(File, SubDirectoriesThatWereNeverClosedAreRecoveredToo) {
  FileImage image;
  auto sub = image.add_directory(image.root, "sub");
  auto same = image.add_directory(sub, "sub");  // the name of its parent, as key lists have it
  image.add_object(same, "TNamed", "n", "x");
  image.add_object(sub, "TNamed", "m", "x");
  image.add_record({"TBasket", "b", "t", 0, 0, image.root.seek, 0, 0, 0}, std::vector<std::byte>(100));
  image.add_record({"RBlob", "", "", 0, 0, image.root.seek, 0, 0, 0}, std::vector<std::byte>(100));
  const auto file = File::open(in_memory(image.finish_without_root_list()));
  ASSERT_TRUE(file) << file.error().text;
  EXPECT_TRUE((*file)->recovered());
  EXPECT_EQ(all_keys(**file), (Keys{"sub;1", "sub/sub;1", "sub/sub/n;1", "sub/m;1"}));
}

TEST(File, RecoveredCyclesAreOrderedNewestFirst) {
  FileImage image;
  image.add_object(image.root, "TTree", "t", "a", 1);
  image.add_object(image.root, "TNamed", "n", "x", 1);
  image.add_object(image.root, "TTree", "t", "c", 3);
  const auto second = image.add_object(image.root, "TTree", "t", "b", 2);
  const auto again = image.add_object(image.root, "TTree", "t", "B", 2);
  ASSERT_NE(second.seek, again.seek);
  const auto file = File::open(in_memory(image.finish_without_root_list()));
  ASSERT_TRUE(file);
  EXPECT_EQ(all_keys(**file), (Keys{"t;3", "t;2", "t;1", "n;1"}));
  EXPECT_EQ((*file)->root()->keys[1].seek, static_cast<std::uint64_t>(again.seek)) << "of equals the last";
}

TEST(File, DamagedListsAreRecoveredFromTheRecords) {
  for (const std::int32_t length : {0, -1}) {
    FileImage image = image_with_directories();
    const auto list = image.finish_directory(image.root, "TFile");
    image.bytes().patch(static_cast<std::size_t>(list.seek), length < 0 ? -list.nbytes : 0);
    const auto file = File::open(in_memory(image.finish_without_root_list()));
    ASSERT_TRUE(file) << file.error().text;
    EXPECT_TRUE((*file)->recovered());
    EXPECT_EQ(all_keys(**file), kKeysOfImage);
  }
}

TEST(File, NothingToRecoverIsRefusedOrEmpty) {
  FileImage fresh({.with_free_list = false});  // a job that has just begun
  EXPECT_TRUE(File::open(in_memory(fresh.finish_without_root_list())));
  FileImage closed;
  const auto empty = File::open(in_memory(closed.finish()));
  ASSERT_TRUE(empty);
  EXPECT_TRUE((*empty)->root()->keys.empty());
  EXPECT_FALSE((*empty)->recovered());
  // A job that died before it wrote its tree: there are baskets past fEND, but nothing that can be opened.
  FileImage died({.with_free_list = false});
  auto bytes = died.finish_without_root_list();
  FileImage longer({.with_free_list = false});
  longer.add_record({"TBasket", "b", "t", 0, 0, 100, 0, 0, 0}, std::vector<std::byte>(100));
  const auto all = longer.finish_without_root_list();
  bytes.insert(bytes.end(), all.begin() + static_cast<std::ptrdiff_t>(bytes.size()), all.end());
  const auto refused = File::open(in_memory(bytes));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::damaged);
}

TEST(File, DirectoryThatHoldsItselfIsTheCallersToNotice) {
  FileImage image;
  auto sub = image.add_directory(image.root, "sub");
  sub.keys.push_back(image.root.keys[0]);  // the directory itself
  auto root_again = image.root.keys[0];
  root_again.seek = image.root.seek;
  root_again.keylen = static_cast<std::int16_t>(image.nbytes_name());
  sub.keys.push_back(root_again);  // its parent
  image.finish_directory(sub);
  const auto file = File::open(in_memory(image.finish()));
  ASSERT_TRUE(file);
  const auto below = (*file)->directory((*file)->root()->keys[0]);
  ASSERT_TRUE(below);
  const auto again = (*file)->directory((*below)->keys[0]);
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->seek, (*below)->seek);
  const auto parent = (*file)->directory((*below)->keys[1]);
  ASSERT_TRUE(parent);
  EXPECT_EQ((*parent)->seek, (*file)->root()->seek);
}

TEST(File, CutAnywhereDoesNoHarm) {
  const auto whole = image_with_directories().finish();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ask_everything(std::vector<std::byte>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
  }
}

TEST(File, NoValueInAnyPlaceDoesHarm) {
  const auto whole = image_with_directories().finish();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const std::uint32_t value : {0u, 0xFFFFFFFFu, 0x7FFFFFFFu, 0x80000000u, 1u}) {
      for (const std::size_t width : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
        auto bytes = whole;
        for (std::size_t i = 0; i < width && at + i < bytes.size(); ++i) {
          bytes[at + i] = static_cast<std::byte>(value >> (8 * (3 - i)));
        }
        ask_everything(std::move(bytes));
      }
    }
  }
}

TEST(UnixTime, ReadsATDatimeAsUtc) {
  const auto datime = [](unsigned year, unsigned month, unsigned day, unsigned hour, unsigned minute, unsigned second) {
    return (year - 1995) << 26 | month << 22 | day << 17 | hour << 12 | minute << 6 | second;
  };
  EXPECT_EQ(unix_time(0), 0);
  EXPECT_EQ(unix_time(datime(1995, 1, 1, 0, 0, 0)), 788918400);
  EXPECT_EQ(unix_time(datime(2024, 2, 29, 12, 34, 56)), 1709210096);
  EXPECT_EQ(unix_time(datime(2058, 12, 31, 23, 59, 59)), 2808604799);
  EXPECT_EQ(unix_time(datime(2000, 0, 0, 0, 0, 0)), unix_time(datime(2000, 1, 1, 0, 0, 0)));
}

// Real files, if the environment names a directory of them.
TEST(File, RealFilesOpenAndTheirPayloadsUnpack) {
  const char* corpus = std::getenv("TFILEFS_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "TFILEFS_CORPUS names no directory of ROOT files";
  std::size_t opened = 0, payloads = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
    if (entry.path().extension() != ".root") continue;
    const auto source = open_source(entry.path());
    ASSERT_TRUE(source);
    const auto file = File::open(*source);
    if (!file) continue;
    ++opened;
    for (const KeyInfo& key : (*file)->root()->keys) {
      const auto payload = read_payload(**source, key);
      EXPECT_TRUE(payload) << entry.path() << ": " << key.name << ": " << payload.error().text;
      ++payloads;
    }
    EXPECT_TRUE((*file)->record_map()) << entry.path();
  }
  EXPECT_GT(opened, 0u);
  EXPECT_GT(payloads, 0u);
}

}  // namespace
}  // namespace tfile
