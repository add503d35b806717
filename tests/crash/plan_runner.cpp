// SPDX-License-Identifier: Apache-2.0
// plan_runner FILE LOG < COMMANDS: changes a ROOT file by commits, as the library plans them, through calls of the C
// library that write_recorder.so sees. Commands, one per line; paths are those of keys:
//   directory PATH · table PATH · ntuple PATH · open PATH · append PATH ENTRIES · rename PATH PATH · remove PATH
//   commit NAME      marks "begin NAME" and "promise NAME" in LOG
// A table has one column, x.i4, whose entry i is i.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tfile/source.h"
#include "tfile/writer.h"
#include "writing/table_of_x.h"

namespace {

using namespace tfile;

constexpr Compression kCompression{Compression::Algorithm::zstd, 5};
constexpr std::uint32_t kNow = 0x7DAB5C00;  // a day in 2026

using ::must;
int must(int result, const char* call) {
  if (result < 0) stop(std::string(call) + " failed");
  return result;
}

class PlanRunner {
 public:
  explicit PlanRunner(std::string path, std::string log) : path_(std::move(path)), log_(std::move(log)) {
    struct stat state = {};
    if (::stat(path_.c_str(), &state) == 0) {
      writer_ = must(FileWriter::open(must(File::open(must(open_source(path_)))), kCompression));
      file_ = must(::open(path_.c_str(), O_RDWR | O_CLOEXEC), "open");
    } else {
      writer_ = must(FileWriter::create(TableOfX::split(path_).second, kCompression));
    }
  }

  void make_directory(const std::string& path) { must(writer_->make_directory(path)); }

  void create_table(const std::string& path, TableFormat format) {
    tables_[path] = TableOfX::create(*writer_, path, "", format);
  }
  void open_table(const std::string& path) { tables_[path] = TableOfX::open(*writer_, path); }

  void append(const std::string& path, std::int64_t count) {
    tables_.at(path).append(*writer_, count, [this](std::uint64_t offset, std::span<const std::byte> bytes) {
      if (writer_->makes_new_file()) open_new();
      write(offset, bytes);
    });
  }

  void rename(const std::string& from, const std::string& to) {
    const auto [directory, name] = TableOfX::split(from);
    const auto [new_directory, new_name] = TableOfX::split(to);
    must(writer_->rename_key(directory, name, new_directory, new_name));
    if (auto table = tables_.extract(from)) {
      table.key() = to;
      tables_.insert(std::move(table));
    }
  }

  void remove(const std::string& path) {
    const auto [directory, name] = TableOfX::split(path);
    must(writer_->remove_key(directory, name));
    tables_.erase(path);
  }

  void commit(const std::string& name) {
    mark("begin " + name);
    const CommitPlan plan = must(writer_->plan(kNow));
    if (plan.replace_file) open_new();
    for (const CommitStep& step : plan.steps) {
      if (step.kind == CommitStep::Kind::write) {
        write(step.offset, step.bytes);
      } else {
        must(::fdatasync(file_), "fdatasync");
      }
    }
    if (new_) publish();
    writer_->committed(plan);
    mark("promise " + name);
  }

 private:
  std::string new_path() const { return path_ + ".new"; }

  void open_new() {
    if (new_) return;
    if (file_ >= 0) ::close(file_);
    file_ = must(::open(new_path().c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644), "open");
    new_ = true;
  }

  void publish() {
    must(::rename(new_path().c_str(), path_.c_str()), "rename");
    const int directory =
        must(::open(TableOfX::split(path_).first.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open");
    must(::fsync(directory), "fsync");
    ::close(directory);
    new_ = false;
  }

  void write(std::uint64_t offset, std::span<const std::byte> bytes) {
    const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written != static_cast<ssize_t>(bytes.size())) stop("pwrite failed");
  }

  // Appends a record to the log of write_recorder.so; see `mark` in recording.py.
  void mark(const std::string& text) const {
    const std::uint32_t head[] = {0x4345'5254, 11, 0, 0, 0, 0, 0, 0, 0, 0, static_cast<std::uint32_t>(text.size()), 0};
    std::string record(reinterpret_cast<const char*>(head), sizeof head);
    record += text;
    const int log = must(::open(log_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666), "open");
    if (::write(log, record.data(), record.size()) != static_cast<ssize_t>(record.size())) stop("write failed");
    ::close(log);
  }

  const std::string path_, log_;
  std::unique_ptr<FileWriter> writer_;
  int file_ = -1;
  bool new_ = false;  // file_ is the new file, which will be renamed to the final name
  std::map<std::string, TableOfX> tables_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  PlanRunner runner(argv[1], argv[2]);
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string command, path, other;
    words >> command >> path >> other;
    if (command == "directory") {
      runner.make_directory(path);
    } else if (command == "table") {
      runner.create_table(path, TableFormat::tree);
    } else if (command == "ntuple") {
      runner.create_table(path, TableFormat::rntuple);
    } else if (command == "open") {
      runner.open_table(path);
    } else if (command == "append") {
      runner.append(path, std::atoll(other.c_str()));
    } else if (command == "rename") {
      runner.rename(path, other);
    } else if (command == "remove") {
      runner.remove(path);
    } else if (command == "commit") {
      runner.commit(path);
    } else {
      stop("no such command: " + line);
    }
  }
}
