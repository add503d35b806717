// SPDX-License-Identifier: Apache-2.0
// Random tables in one to three files, written by a mount without a kernel, repacked with random options, and read
// again: against a model of what each entry holds.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "fs/campaign.h"
#include "repack/repack.h"
#include "temporary_directory.h"
#include "vfs/file_system.h"
#include "waited.h"

namespace tfilefs {
namespace {

using tfile::EntryRange;
using tfile::TableFormat;

enum class FieldKind { number, text, list };

// A field of the table T: the bytes that each entry has.
struct ModelField {
  std::string name;
  FieldKind kind = FieldKind::number;
  std::string dtype;
  std::size_t item_size = 0;
  std::vector<std::string> entries;

  bool is_number() const { return kind == FieldKind::number; }
  std::string offsets_path() const { return "T/" + name + "/offsets.i8"; }
  std::string items_path() const {
    if (is_number()) return "T/" + name + "." + dtype;
    return "T/" + name + (kind == FieldKind::text ? "/chars.u1" : "/values." + dtype);
  }
};

struct ItemType {
  const char* dtype;
  std::size_t size;
};
constexpr ItemType kItemTypes[] = {{"f4", 4}, {"f8", 8}, {"i1", 1}, {"u2", 2}, {"i4", 4}, {"i8", 8}};

class RepackModel {
 public:
  explicit RepackModel(std::uint64_t seed) : random_(seed) { small_.cache = {.memory = 16 << 20, .threads = 1}; }

  void run() {
    choose_fields();
    write_sources();
    for (int i = 0; i < kRepacksOfATable; ++i) repack_once(i);
  }

  std::uint64_t repacks = 0, files = 0;

 private:
  static constexpr int kRepacksOfATable = 6;

  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class T, std::size_t N>
  const T& any_of(const T (&values)[N]) {
    return values[below(N)];
  }

  // `k` and `keep` choose entries; the others have values at random, some of which compress and some of which do not.
  void choose_fields() {
    fields_.push_back({"k", FieldKind::number, "i4", 4, {}});
    fields_.push_back({"keep", FieldKind::number, "b1", 1, {}});
    const std::uint64_t more = 1 + below(5);
    for (std::uint64_t i = 0; i < more; ++i) {
      const std::string name = "x" + std::to_string(i);
      const ItemType type = any_of(kItemTypes);
      switch (below(3)) {
        case 0:
          fields_.push_back({name, FieldKind::number, type.dtype, type.size, {}});
          break;
        case 1:
          fields_.push_back({name, FieldKind::list, type.dtype, type.size, {}});
          break;
        default:
          fields_.push_back({name, FieldKind::text, "u1", 1, {}});
      }
    }
  }

  std::string new_items(const ModelField& field) {
    if (field.name == "k") {
      const auto value = static_cast<std::int32_t>(below(10));
      return std::string(reinterpret_cast<const char*>(&value), sizeof value);
    }
    if (field.name == "keep") return std::string(1, static_cast<char>(below(2)));
    const std::size_t count = field.is_number() ? 1 : below(chance(5) ? 300 : 6);
    std::string items(count * field.item_size, 'a');
    if (chance(70))
      for (char& each : items) each = static_cast<char>('a' + below(26));
    return items;
  }

  void write_sources() {
    const std::uint64_t count = 1 + below(3);
    const bool same_format = chance(70);
    const auto format = chance(50) ? TableFormat::tree : TableFormat::rntuple;
    for (std::uint64_t i = 0; i < count; ++i) {
      WriteOptions write;
      write.format = same_format || chance(50) ? format : TableFormat::tree;
      write.compression = any_of(kCompressions);
      if (chance(50)) write.cluster_bytes = 200 + below(3000);
      write.commit = std::chrono::hours(1);
      write_source("in" + std::to_string(i) + ".root", write);
    }
  }

  // In several commits, so that it has clusters of several sizes.
  void write_source(const std::string& name, const WriteOptions& write) {
    const std::string path = temporary_.path() / name;
    FileSystemOptions options = small_;
    options.write = write;
    auto fs = FileSystem::open(path, options).value();
    ASSERT_TRUE(fs->make_source());
    make_directory(*fs, "", "T");
    for (const ModelField& field : fields_)
      if (!field.is_number()) make_directory(*fs, "T", field.name);
    const std::size_t first = fields_[0].entries.size();
    const std::uint64_t commits = 1 + below(3);
    for (std::uint64_t i = 0; i < commits; ++i) {
      const std::uint64_t more = 1 + below(chance(20) ? 400 : 40);
      for (ModelField& field : fields_)
        for (std::uint64_t entry = 0; entry < more; ++entry) field.entries.push_back(new_items(field));
      for (const ModelField& field : fields_) write_field(*fs, field, first);
      commit(*fs);
    }
    sources_.push_back(path);
  }

  static void make_directory(FileSystem& fs, const std::string& in, const std::string& name) {
    const auto made = waited<FileSystem::Found>([&](auto reply) {
      fs.make_directory(fs.find_path(in)->id, name, {S_IFDIR | 0755, ::geteuid(), ::getegid()}, std::move(reply));
    });
    ASSERT_TRUE(made) << made.error().text;
  }

  // All entries from `first` on; those that are there already get the same bytes no second time.
  static void write_field(FileSystem& fs, const ModelField& field, std::size_t first) {
    std::string items, offsets(8, '\0');
    for (std::size_t entry = first; entry < field.entries.size(); ++entry) {
      items += field.entries[entry];
      const std::uint64_t end = items.size() / field.item_size;
      offsets.append(reinterpret_cast<const char*>(&end), sizeof end);
    }
    if (!field.is_number()) append_rest(fs, field.offsets_path(), offsets);
    append_rest(fs, field.items_path(), items);
  }

  static void append_rest(FileSystem& fs, const std::string& path, const std::string& whole) {
    HandleId handle = 0;
    std::uint64_t size = 0;
    if (const auto found = fs.find_path(path)) {
      size = found->attributes.size;
      handle = waited<FileSystem::Opened>([&](auto reply) { fs.open_to_write(found->id, std::move(reply)); })->handle;
    } else {
      const std::size_t slash = path.rfind('/');
      handle = waited<FileSystem::Created>([&](auto reply) {
                 fs.create(fs.find_path(path.substr(0, slash))->id, path.substr(slash + 1),
                           {S_IFREG | 0644, ::geteuid(), ::getegid()}, true, std::move(reply));
               })->opened.handle;
    }
    const auto more = std::as_bytes(std::span(whole)).subspan(size);
    if (!more.empty()) {
      const auto written =
          waited<std::size_t>([&](auto reply) { fs.write(handle, size, false, more, std::move(reply)); });
      ASSERT_TRUE(written && *written == more.size());
    }
    ASSERT_TRUE(waited<void>([&](auto reply) { fs.flush(handle, std::move(reply)); }));
    fs.release(handle);
    fs.cache().exec().job_pool.finish();
  }

  static void commit(FileSystem& fs) {
    const auto opened = waited<HandleId>([&](auto reply) { fs.opendir(fs.find_path("T")->id, std::move(reply)); });
    const auto done = waited<void>([&](auto reply) { fs.sync(*opened, std::move(reply)); });
    fs.release(*opened);
    ASSERT_TRUE(done) << done.error().text;
  }

  void repack_once(int number) {
    RepackOptions options;
    options.sources = sources_;
    options.out = temporary_.path() / ("out" + std::to_string(number) + ".root");
    options.threads = 1 + static_cast<unsigned>(below(3));
    options.memory = 64 << 20;
    options.verifies = chance(30);
    if (chance(60)) options.format = chance(50) ? TableFormat::tree : TableFormat::rntuple;
    if (chance(50)) options.compression = any_of(kCompressions);
    if (chance(40)) options.cluster_bytes = 200 + below(5000);
    if (chance(30)) options.split_bytes = 20'000 + below(100'000);
    std::vector<std::size_t> taken(fields_.size());
    std::iota(taken.begin(), taken.end(), 0u);
    if (chance(30)) take_some_columns(options, taken);
    const std::vector<std::size_t> kept = choose_entries(options);

    const auto report = repack(options, {});
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(report->left_out, std::vector<std::string>());
    EXPECT_EQ(report->renamed, std::vector<std::string>());
    std::vector<std::unique_ptr<FileSystem>> outputs;
    for (const RepackReport::File& file : report->files) outputs.push_back(FileSystem::open(file.path, small_).value());
    for (const std::size_t field : taken) expect_field(outputs, fields_[field], kept);
    ++repacks;
    files += outputs.size();
  }

  void take_some_columns(RepackOptions& options, std::vector<std::size_t>& taken) {
    std::vector<std::string> names;
    taken.clear();
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (i > 1 && chance(50)) continue;  // those by which entries are chosen stay
      taken.push_back(i);
      names.push_back(fields_[i].name);
    }
    options.columns = NameFilter::parse(names, {}).value();
  }

  // The numbers of the entries that are to be in what is written.
  std::vector<std::size_t> choose_entries(RepackOptions& options) {
    const std::size_t all = fields_[0].entries.size();
    std::vector<std::size_t> kept;
    const auto keep_if = [&](auto is_kept) {
      for (std::size_t i = 0; i < all; ++i)
        if (is_kept(i)) kept.push_back(i);
    };
    switch (below(5)) {
      case 0: {
        const std::size_t begin = below(all), end = begin + 1 + below(all - begin);
        options.entries = EntryRange{static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)};
        keep_if([&](std::size_t i) { return i >= begin && i < end; });
        break;
      }
      case 1:
        options.selection = "keep";
        keep_if([&](std::size_t i) { return fields_[1].entries[i][0] != 0; });
        break;
      case 2:
        options.where = "k%3==1 || k>7";
        keep_if([&](std::size_t i) {
          std::int32_t k = 0;
          std::memcpy(&k, fields_[0].entries[i].data(), sizeof k);
          return k % 3 == 1 || k > 7;
        });
        break;
      case 3: {
        keep_if([&](std::size_t) { return chance(30); });
        options.selection = temporary_.path() / "index.i8";
        std::ofstream index(options.selection, std::ios::binary);
        for (const std::uint64_t i : kept) index.write(reinterpret_cast<const char*>(&i), sizeof i);
        break;
      }
      default:
        keep_if([](std::size_t) { return true; });
    }
    return kept;
  }

  // The entries of all files, one behind the other.
  void expect_field(const std::vector<std::unique_ptr<FileSystem>>& outputs, const ModelField& field,
                    const std::vector<std::size_t>& kept) const {
    std::vector<std::string> found;
    for (const auto& fs : outputs) {
      const std::string items = content(*fs, field.items_path());
      std::vector<std::uint64_t> ends;
      if (field.is_number()) {
        for (std::uint64_t end = 1; end <= items.size() / field.item_size; ++end) ends.push_back(end);
      } else {
        const std::string offsets = content(*fs, field.offsets_path());
        ends.resize(offsets.size() / 8);
        std::memcpy(ends.data(), offsets.data(), ends.size() * 8);
        ASSERT_FALSE(ends.empty());
        ASSERT_EQ(ends.front(), 0u);
        ends.erase(ends.begin());
      }
      std::uint64_t begin = 0;
      for (const std::uint64_t end : ends) {
        ASSERT_TRUE(begin <= end && end * field.item_size <= items.size());
        found.push_back(items.substr(begin * field.item_size, (end - begin) * field.item_size));
        begin = end;
      }
      ASSERT_EQ(begin * field.item_size, items.size());
    }
    ASSERT_EQ(found.size(), kept.size()) << field.name;
    for (std::size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(found[i], field.entries[kept[i]]) << field.name << " " << i;
  }

  static std::string content(FileSystem& fs, const std::string& path) {
    const auto found = fs.find_path(path);
    if (!found) {
      ADD_FAILURE() << path << ": " << found.error().text;
      return {};
    }
    const auto opened = waited<FileSystem::Opened>([&](auto reply) { fs.open(found->id, std::move(reply)); }).value();
    const auto bytes =
        waited<Slices>([&](auto reply) { fs.read(opened.handle, 0, found->attributes.size, std::move(reply)); });
    std::string all;
    if (bytes) {
      for (const auto& piece : bytes->pieces) all.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    } else {
      ADD_FAILURE() << path << ": " << bytes.error().text;
    }
    fs.release(opened.handle);
    return all;
  }

  static constexpr tfile::Compression kCompressions[] = {{tfile::Compression::Algorithm::none, 0},
                                                         {tfile::Compression::Algorithm::zlib, 1},
                                                         {tfile::Compression::Algorithm::lz4, 4},
                                                         {tfile::Compression::Algorithm::zstd, 1}};

  FileSystemOptions small_;  // of the mounts that write and read
  std::mt19937_64 random_;
  const TemporaryDirectory temporary_;
  std::vector<ModelField> fields_;
  std::vector<std::string> sources_;
};

TEST(RepackModel, HasTheEntriesThatWereChosen) {
  const auto [tables, first] = campaign_of(12);
  std::uint64_t repacks = 0, files = 0;
  for (std::uint64_t i = 0; i < tables; ++i) {
    SCOPED_TRACE("TFILEFS_CRASH_SEED=" + std::to_string(first + i));
    RepackModel model(first + i);
    model.run();
    ASSERT_FALSE(HasFailure());
    repacks += model.repacks;
    files += model.files;
  }
  std::cout << "TFILEFS_CRASH_SEED=" << first << ": " << repacks << " repacks, " << files << " files\n";
}

}  // namespace
}  // namespace tfilefs
