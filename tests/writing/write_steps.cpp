// SPDX-License-Identifier: Apache-2.0
// write_steps SCENARIO DIRECTORY [FILE]: changes a ROOT file (FILE, which is only read, or a new one) by a few commits.
// Stops after every single write, and in the middle of it. DIRECTORY/states.txt has a line per stop: a word; the file
// NNN.patch with the bytes written since the last stop ("-": none); and the states before and after the commit, each as
// PATH=ENTRIES of all tables, joined by commas. The word is "sure" (the commit was promised: only the second state),
// "open" (either state), "each" (either state for each table) or "new" (the patch makes a whole new file, as a rename
// does).

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>

#include "table_of_x.h"
#include "tfile/writer.h"

namespace {

namespace fs = std::filesystem;
using namespace tfile;

constexpr Compression kCompression{Compression::Algorithm::zstd, 5};
constexpr std::uint32_t kNow = 0x7DAB5C00;  // a day in 2026

// A file that is written by plans. Each write may be the last one.
class SteppedFile {
 public:
  SteppedFile(fs::path directory, const char* path)
      : directory_(std::move(directory)), states_(directory_ / "states.txt") {
    if (path == nullptr) {
      writer_ = must(FileWriter::create("steps.root", kCompression));
      return;
    }
    const auto source = must(open_source(path));
    head_.resize(std::min<std::uint64_t>(source->size(), 1024));
    must(read_range(*source, {0, head_.size()}, head_));
    writer_ = must(FileWriter::open(must(File::open(source)), kCompression));
  }

  FileWriter& writer() { return *writer_; }

  void create_table(const std::string& directory, const std::string& name) {
    const std::string path = directory.empty() ? name : directory + "/" + name;
    tables_[path] = TableOfX::create(*writer_, path, "table " + name);
    wanted_[path] = 0;
  }
  void open_table(const std::string& directory, const std::string& name) {
    const std::string path = directory.empty() ? name : directory + "/" + name;
    tables_[path] = TableOfX::open(*writer_, path);
    wanted_[path] = committed_[path] = tables_[path].entries;
  }
  void append(const std::string& path, std::int64_t count) {
    TableOfX& table = tables_.at(path);
    table.append(*writer_, count,
                 [this](std::uint64_t offset, std::span<const std::byte> bytes) { write(offset, bytes); });
    wanted_[path] = table.entries;
  }
  void rename(const std::string& from, const std::string& to) {
    const auto [from_directory, from_name] = TableOfX::split(from);
    const auto [to_directory, to_name] = TableOfX::split(to);
    must(writer_->rename_key(from_directory, from_name, to_directory, to_name));
    wanted_.emplace(to, wanted_.at(from));
    wanted_.erase(from);
    if (tables_.contains(from)) {
      tables_[to] = tables_[from];
      tables_.erase(from);
    }
  }
  void remove(const std::string& path) {
    const auto [directory, name] = TableOfX::split(path);
    must(writer_->remove_key(directory, name, 0));
    wanted_.erase(path);
    tables_.erase(path);
  }

  // `each`: the commit changes tables of several directories, each of which takes effect by itself.
  void commit(bool each = false) {
    word_ = each ? "each" : "open";
    const CommitPlan plan = must(writer_->plan(kNow));
    const std::span<const std::byte> head(head_);
    if (head_state(head.first(std::min(head.size(), plan.head_before.size())), plan.head_before, plan.head_after) !=
        (plan.steps.empty() ? HeadState::after : HeadState::before)) {
      std::cerr << "the head is not what the plan expects\n";
      std::exit(1);
    }
    for (const CommitStep& step : plan.steps) {
      if (step.kind == CommitStep::Kind::write) write(step.offset, step.bytes);
    }
    committed_ = wanted_;
    if (plan.replace_file) {
      head_ = plan.head_after;
      save("new");
    } else {
      save("sure");
    }
    writer_->committed(plan);
    word_ = "open";
  }

 private:
  using State = std::map<std::string, std::int64_t>;

  // A write without a sector that is torn: its first sectors reach the disk first.
  void write(std::uint64_t offset, std::span<const std::byte> bytes) {
    constexpr std::uint64_t kSector = 512;
    const std::uint64_t half = (offset + bytes.size() / 2) / kSector * kSector;
    const bool torn = !writer_->makes_new_file() && half > offset;
    if (torn) {
      patch(offset, bytes.first(half - offset));
      save(word_);
      bytes = bytes.subspan(half - offset);
      offset = half;
    }
    patch(offset, bytes);
    if (!writer_->makes_new_file()) save(word_);
  }

  void patch(std::uint64_t offset, std::span<const std::byte> bytes) {
    for (const std::uint64_t number : {offset, static_cast<std::uint64_t>(bytes.size())}) {
      for (int byte = 0; byte < 8; ++byte) patch_.push_back(static_cast<char>(number >> (8 * byte)));
    }
    patch_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (std::size_t i = 0; i < bytes.size() && offset + i < head_.size(); ++i) head_[offset + i] = bytes[i];
  }

  static std::string text(const State& state) {
    std::string all;
    for (const auto& [path, entries] : state) all += (all.empty() ? "" : ",") + path + "=" + std::to_string(entries);
    return all.empty() ? "-" : all;
  }

  void save(const char* word) {
    std::string name = "-";
    if (!patch_.empty()) {
      name = std::to_string(saved_++) + ".patch";
      std::ofstream(directory_ / name, std::ios::binary) << patch_;
      patch_.clear();
    }
    states_ << word << " " << name << " " << text(committed_) << " " << text(wanted_) << "\n";
  }

  const fs::path directory_;
  std::ofstream states_;
  std::unique_ptr<FileWriter> writer_;
  std::string patch_;            // writes since the last stop: offset and size (8 bytes each, little-endian), bytes
  std::vector<std::byte> head_;  // of the file
  std::map<std::string, TableOfX> tables_;
  State committed_, wanted_;
  const char* word_ = "open";
  int saved_ = 0;
};

// A table of the root directory: three commits, each of which reuses space freed by an earlier one.
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

// Renames and removals of all kinds, down to the last key.
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

// Another writer's file, with the table "t" of column x, of type Int_t, in its root directory.
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

// The same with the table in a directory "d" of another writer.
void foreign_directory(SteppedFile& file) {
  file.open_table("d", "t");
  for (const std::int64_t count : {100, 2000}) {
    file.append("d/t", count);
    file.commit();
  }
  file.rename("d/t", "u");
  file.commit();
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void(SteppedFile&)>> scenarios{{"root-table", root_table},
                                                                           {"directories", directories},
                                                                           {"keys", keys},
                                                                           {"foreign", foreign},
                                                                           {"foreign-directory", foreign_directory}};
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
