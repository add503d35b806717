// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fs/staging/simulated_disk.h"
#include "fs/standing_clock.h"
#include "temporary_directory.h"
#include "vfs/file_system.h"

namespace tfilefs {

// A ROOT file with two tables that are written in a mount without a kernel, on a simulated disk, and a model of what
// docs/semantics/writing.md promises of it. Whatever differs from the model is thrown, with the last operations.
class WriteModel {
 public:
  using Random = std::mt19937_64;
  explicit WriteModel(Random::result_type seed);
  ~WriteModel();
  WriteModel(const WriteModel&) = delete;
  WriteModel& operator=(const WriteModel&) = delete;

  void run(std::uint64_t operations);

  struct Done {
    std::uint64_t operations = 0, commits = 0, mounts = 0, crashes = 0, faults = 0, waits = 0;
  };
  const Done& done() const { return done_; }

 private:
  struct File {
    std::string bytes;
    std::size_t base = 0;                 // of them committed
    std::vector<std::string> states{""};  // what was last promised, and what the file has been since
    int writers = 0;
  };
  using FilePtr = std::shared_ptr<File>;
  using Names = std::map<std::string, FilePtr>;  // by path below the ROOT file
  using Sizes = std::map<std::string, std::size_t>;
  struct Handle {
    HandleId id = 0;
    FilePtr file;
    std::string path;
    bool writes = false;
  };
  // What was asked may have happened, or not: the disk has stopped; or one of its calls has failed.
  struct Stopped {};
  struct Faulted {};

  // The mount.
  void mount();
  void remount();
  void crash();
  void restart(SimulatedDisk::Ending);
  void see_what_is_left();
  bool is_as(const Names& names, const std::map<std::string, std::string>& left) const;
  void adopt(const Names& names, const std::map<std::string, std::string>& left);
  void make_directories();

  // Operations.
  void step();
  void choose(unsigned shares);
  void create_one();
  void create(const std::string& path);
  void open_one(bool to_write);
  void close(std::size_t handle);
  void close_writers(const std::string& table);
  void write_one(bool append);
  void write(Handle&, std::uint64_t offset, const std::string& bytes);
  void truncate_one();
  void truncate(const std::string& path, std::uint64_t size);
  void sync_one();
  void remove_one();
  void remove(const std::string& path);
  void take(const std::string& from, const std::string& name, bool directory);
  void remove_list(const std::string& path);
  void rename_one();
  void commit_one();
  void wait_one();
  void commit(const std::string& below);
  void finish(const std::string& table);
  void mend_lists(const std::string& table);
  void grow(const std::string& path, std::size_t entries);
  void with_fault();

  // What is in the mount, and in the ROOT file.
  void check_some();
  void check_mount();
  void check(const std::string& path);
  void check_handle(const Handle&);
  std::string read(HandleId, std::size_t size);
  std::optional<std::string> content(const std::string& path);
  std::map<std::string, Sizes> committed_sizes() const;
  void see_commits(const std::string& below, bool must);
  bool sees_table(const std::string& table, const Sizes& actual, bool asked, bool must);

  // The model.
  bool is_whole(const std::string& table, bool with_writers) const;
  std::optional<std::size_t> entries(const std::string& path) const;
  Sizes sizes(const std::string& table) const;
  void settle(const std::string& table);
  std::vector<std::string> paths(const std::string& table) const;
  void note_names(Names names);
  void promise_all();
  std::string more_of(const std::string& path, std::size_t size);

  template <class T, class Call>
  Result<T> ask(Call call);
  template <class Call>
  Result<void> ask_in_time(Call call);
  template <class T>
  void need(const Result<T>&, const std::string& what);
  void expect(bool, const std::string& what) const;
  void note(const std::string& operation);
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class Values>
  const auto& any_of(const Values& values) {
    return *std::next(values.begin(), static_cast<std::ptrdiff_t>(below(values.size())));
  }
  bool is_there(const std::string& path);
  InodeId id_of(const std::string& path);

  const Random::result_type seed_;
  Random random_;
  const TemporaryDirectory temporary_;
  std::filesystem::path path_;
  StandingClock clock_;
  SteadyClock::Time changed_ = clock_.now();  // when bytes or sizes of a file were last changed, or before
  std::optional<SimulatedDisk> disk_;
  std::unique_ptr<FileSystem> fs_;

  Names names_;
  std::vector<Names> names_since_;          // what they have been since all of the journal was synced; the last: names_
  std::map<std::string, Sizes> committed_;  // of the ROOT file, by table
  std::set<std::string> dropped_;           // removed, but not yet from the ROOT file
  std::vector<Handle> handles_;
  std::set<std::string> touched_;  // by the operation; none: perhaps all
  bool faulty_ = false;            // a call of the operation may fail
  bool machine_stopped_ = false;   // since what is left was seen
  bool committing_ = false;        // a commit was asked for
  Done done_;
  std::vector<std::string> history_;
};

}  // namespace tfilefs
