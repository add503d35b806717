// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "repack/output_file.h"
#include "reply.h"
#include "staging/journal/file_claim.h"
#include "staging/journal/new_file.h"

namespace tfilefs {

// The name of one of several files: "out-0000.root" for "out.root". Their order is that of their numbers, as far as
// `files_about` tells how many there may be.
std::string split_name(const std::string& out, std::size_t number, std::size_t files_about);

// The files that one command writes: they get their names together, when all are whole, or none of them does. What had
// their names when the command began is replaced, and nothing else. Used by one thread; blocks.
class OutputSet {
 public:
  // Takes note of what is there now. `is_split`: under any of the names that split_name() makes of OUT. Errors: exists
  // (there is something, and it is not to be replaced; or it is not of a set of such files), those of its directory.
  static Result<OutputSet> make(const std::string& out, bool is_split, bool replaces);

  // The paths that were there.
  std::vector<std::string> former_paths() const;
  // Begins a file. Errors: as OutputFile::make().
  Result<std::unique_ptr<OutputFile>> begin(const std::string& path) const;
  // Takes one that is whole.
  void add(std::unique_ptr<OutputFile> file) { files_.push_back(std::move(file)); }
  std::size_t size() const { return files_.size(); }
  void clear() { files_.clear(); }
  // Gives all of them their names; files of a former, larger set are removed. After an error all is as it was. Errors:
  // stale (another program has made or replaced one of them meanwhile), busy, exists (a journal), those of the system.
  Result<> publish();

 private:
  // A file of a former set that has no successor.
  struct Surplus {
    std::optional<FileClaim> claim;
    LeavingFile file;
  };

  OutputSet(std::string out, bool is_split, bool replaces)
      : out_(std::move(out)), is_split_(is_split), replaces_(replaces) {}
  Result<> note_former();
  Result<> check_former() const;
  std::string path_of(const std::string& name) const;
  bool is_written(const std::string& name) const;
  Result<std::vector<Surplus>> surplus() const;
  Result<> change_names(std::vector<Surplus>&);
  Error rolled_back(Error, std::size_t files, std::vector<Surplus>&);

  std::string out_;
  bool is_split_ = false, replaces_ = false;
  std::map<std::string, FileState> former_;  // by name in the directory of OUT
  std::vector<std::unique_ptr<OutputFile>> files_;
};

}  // namespace tfilefs
