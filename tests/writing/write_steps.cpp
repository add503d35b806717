// SPDX-License-Identifier: Apache-2.0
// write_steps SCENARIO DIRECTORY [FILE]: changes a ROOT file (FILE, or a new one) by a few commits, and stops each after
// every single write and in the middle of it: each state is a file NNN.root in DIRECTORY. For each a line on stdout, its
// name, a word, and what the file may hold: the state before and after the commit, each as PATH=ENTRIES of all tables,
// joined by commas. The word is "sure" (the commit was promised, so it can only be the second), "open" (either), or "each"
// (of each table either).

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <set>

#include "format/source/memory_source.h"
#include "tfile/writer.h"

namespace {

namespace fs = std::filesystem;
using namespace tfile;

template <class T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::cerr << result.error().text << "\n";
  std::exit(1);
}
void must(Result<> result) {
  if (result) return;
  std::cerr << result.error().text << "\n";
  std::exit(1);
}

constexpr Compression kCompression{Compression::Algorithm::zstd, 5};
constexpr std::uint32_t kNow = 0x7DAB5C00;  // a day in 2026

// Column x of a table, which has one branch: entry i is i.
std::vector<std::byte> entries_of_x(EntryRange entries) {
  std::vector<std::byte> bytes;
  for (std::int64_t i = entries.begin; i < entries.end; ++i) {
    const auto x = static_cast<std::uint32_t>(i);
    for (int byte = 0; byte < 4; ++byte) bytes.push_back(std::byte(x >> (8 * byte)));
  }
  return bytes;
}

// A file that is written by plans, every write of which can be the last.
class SteppedFile {
 public:
  SteppedFile(fs::path directory, const char* path) : directory_(std::move(directory)) {
    if (path != nullptr) open(path);
    writer_ = path != nullptr ? must(FileWriter::open(file_, kCompression))
                              : must(FileWriter::create("steps.root", kCompression));
  }

  FileWriter& writer() { return *writer_; }

  void create_table(const std::string& directory, const std::string& name) {
    const std::string path = directory.empty() ? name : directory + "/" + name;
    TableWriter* table = must(writer_->create_table(directory, name, "table " + name));
    const std::vector<OfferedColumn> columns{must(offered_column("x.i4"))};
    must(table->add_branches(columns, must(table_form(columns))));
    tables_[path] = {table, 0};
    wanted_[path] = 0;
  }
  void open_table(const std::string& directory, const std::string& name) {
    const std::string path = directory.empty() ? name : directory + "/" + name;
    TableWriter* table = must(writer_->open_table(directory, name, false));
    tables_[path] = {table, table->committed_entries()};
    wanted_[path] = table->committed_entries();
  }
  void append(const std::string& path, std::int64_t count) {
    auto& [table, entries] = tables_.at(path);
    const EntryRange range{entries, entries + count};
    const std::vector<std::byte> bytes = entries_of_x(range);
    const std::span<const std::byte> columns[] = {bytes};
    Basket basket = must(table->encode(0, range, columns));
    const std::uint64_t address = writer_->place(basket);
    write(address, basket.record.span());
    table->add_basket(0, basket, address);
    table->end_cluster(range.end, 0, {});
    entries = wanted_[path] = range.end;
  }
  void rename(const std::string& from, const std::string& to) {
    const auto [from_directory, from_name] = split(from);
    const auto [to_directory, to_name] = split(to);
    must(writer_->rename_key(from_directory, from_name, to_directory, to_name));
    wanted_.emplace(to, wanted_.at(from));
    wanted_.erase(from);
    if (tables_.contains(from)) {
      tables_[to] = tables_[from];
      tables_.erase(from);
    }
  }
  void remove(const std::string& path) {
    const auto [directory, name] = split(path);
    must(writer_->remove_key(directory, name, 0));
    wanted_.erase(path);
    tables_.erase(path);
  }

  // `each`: the commit changes tables of several directories, each of which becomes true by itself.
  void commit(bool each = false) {
    word_ = each ? "each" : "open";
    const CommitPlan plan = must(writer_->plan(kNow));
    // A new file takes its name only when it is whole.
    if (plan.replace_file) {
      for (const CommitStep& step : plan.steps) {
        if (step.kind == CommitStep::Kind::write) put(next_, step.offset, step.bytes);
      }
      bytes_ = std::move(next_);
      next_.clear();
    } else {
      if (plan.head_before != std::vector(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(plan.head_before.size()))) {
        std::cerr << "the head is not what the plan expects\n";
        std::exit(1);
      }
      for (const CommitStep& step : plan.steps) {
        if (step.kind == CommitStep::Kind::write) write(step.offset, step.bytes);
      }
    }
    committed_ = wanted_;
    if (bytes_.size() < plan.size) {
      std::cerr << "the file is shorter than its plan says\n";
      std::exit(1);
    }
    writer_->committed(plan);
    save("sure");
    word_ = "open";
  }

 private:
  using State = std::map<std::string, std::int64_t>;

  static std::pair<std::string, std::string> split(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {"", path};
    return {path.substr(0, slash), path.substr(slash + 1)};
  }

  void open(const char* path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const auto bytes = std::as_bytes(std::span(text));
    bytes_.assign(bytes.begin(), bytes.end());
    file_ = must(File::open(std::make_shared<const test::MemorySource>(bytes_)));
  }

  static void put(std::vector<std::byte>& file, std::uint64_t offset, std::span<const std::byte> bytes) {
    file.resize(std::max<std::size_t>(file.size(), offset + bytes.size()));
    std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(offset));
  }

  // A write that is not torn inside a sector: what reaches the disk of it first are its first sectors.
  void write(std::uint64_t offset, std::span<const std::byte> bytes) {
    if (writer_->makes_new_file()) return put(next_, offset, bytes);
    constexpr std::uint64_t kSector = 512;
    const std::uint64_t half = (offset + bytes.size() / 2) / kSector * kSector;
    if (half > offset) {
      put(bytes_, offset, bytes.first(half - offset));
      save(word_);
    }
    put(bytes_, offset, bytes);
    save(word_);
  }

  static std::string text(const State& state) {
    std::string all;
    for (const auto& [path, entries] : state) all += (all.empty() ? "" : ",") + path + "=" + std::to_string(entries);
    return all.empty() ? "-" : all;
  }

  void save(const char* word) {
    char name[16];
    std::snprintf(name, sizeof name, "%03d.root", saved_++);
    std::ofstream(directory_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes_.data()), static_cast<std::streamsize>(bytes_.size()));
    std::cout << name << " " << word << " " << text(committed_) << " " << text(wanted_) << "\n";
  }

  const fs::path directory_;
  std::shared_ptr<const File> file_;
  std::unique_ptr<FileWriter> writer_;
  std::vector<std::byte> bytes_;  // the file
  std::vector<std::byte> next_;   // the one that will take its name
  std::map<std::string, std::pair<TableWriter*, std::int64_t>> tables_;
  State committed_, wanted_;
  const char* word_ = "open";
  int saved_ = 0;
};

// A table of the root directory: three commits, each reusing what an earlier one freed.
void root_table(SteppedFile& file) {
  file.create_table("", "Events");
  for (const std::int64_t count : {1000, 1, 500, 3000, 2, 2000}) {
    file.append("Events", count);
    file.commit();
  }
  file.commit();
}

void directories(SteppedFile& file) {
  file.create_table("", "Events");
  file.append("Events", 10);
  file.commit();
  must(file.writer().make_directory("a"));
  must(file.writer().make_directory("a/b"));
  file.commit();
  file.create_table("a/b", "deep");
  file.append("a/b/deep", 1000);
  file.commit();
  file.append("a/b/deep", 500);
  file.commit();
  file.create_table("a", "other");
  file.append("a/other", 300);
  file.append("a/b/deep", 1);
  file.commit(true);
}

// A rename and a removal of each kind, down to the last key.
void keys(SteppedFile& file) {
  file.create_table("", "one");
  file.append("one", 100);
  must(file.writer().make_directory("a"));
  must(file.writer().make_directory("a/b"));
  file.create_table("a/b", "two");
  file.append("a/b/two", 200);
  file.commit();
  file.rename("one", "uno");
  file.commit();
  file.rename("a/b/two", "due");
  file.commit();
  file.rename("uno", "a/b/uno");
  file.commit();
  file.append("a/b/uno", 50);
  file.commit();
  file.remove("due");
  file.commit();
  file.remove("a/b/uno");
  file.commit();
  must(file.writer().remove_key("a", "b", 0));
  file.commit();
  must(file.writer().remove_key("", "a", 0));
  file.commit();
  file.create_table("", "again");
  file.append("again", 70);
  file.commit();
  file.append("again", 70);
  file.commit();
}

// Another writer's file with the table "t" of column x, of type Int_t.
void foreign(SteppedFile& file) {
  file.open_table("", "t");
  for (const std::int64_t count : {100, 2000, 1}) {
    file.append("t", count);
    file.commit();
  }
  must(file.writer().make_directory("ours"));
  file.create_table("ours", "Events");
  file.append("ours/Events", 20);
  file.commit();
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void(SteppedFile&)>> scenarios{
      {"root-table", root_table}, {"directories", directories}, {"keys", keys}, {"foreign", foreign}};
  const auto scenario = argc < 3 ? scenarios.end() : scenarios.find(argv[1]);
  if (scenario == scenarios.end()) {
    std::cerr << "write_steps SCENARIO DIRECTORY [FILE]; SCENARIO is one of";
    for (const auto& [name, run] : scenarios) std::cerr << " " << name;
    std::cerr << "\n";
    return 2;
  }
  SteppedFile file(argv[2], argc > 3 ? argv[3] : nullptr);
  scenario->second(file);
}
