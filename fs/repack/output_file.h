// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "reply.h"
#include "staging/journal/file_claim.h"
#include "staging/journal/file_place.h"
#include "staging/journal/new_file.h"
#include "table_build/file_writes.h"
#include "tfile/source.h"
#include "tfile/writer.h"

namespace tfilefs {

// The state of what has a name: whether it is still the same file, with the same content. Nothing: there is none.
struct FileState {
  FileId id;
  timespec modified{};
  friend bool operator==(const FileState& a, const FileState& b) {
    return a.id == b.id && a.modified.tv_sec == b.modified.tv_sec && a.modified.tv_nsec == b.modified.tv_nsec;
  }
};
std::optional<FileState> state_at(int directory, const std::string& name);

// The same as place_of(). Errors: invalid (no name of a file), and those of that.
Result<FilePlace> place_of_output(const std::string& path);
// Whether it may be replaced, or removed: nobody else writes it, or has left something to be brought into it. The claim
// holds that; there is none if the file system has no locks, or this user may not write the file. Errors: as make().
Result<std::optional<FileClaim>> claim_former(const FilePlace&);

// The file that is written: without a name until publish() (NewFile). A file that it is to replace is claimed until
// then, as mounts claim those that they write. Used by one thread; blocks.
class OutputFile {
 public:
  // `former`: what had the name when the command began. Errors: exists (a file of that name, unless it is to be
  // replaced; a journal beside it), stale (another one has the name by now), busy (a mount writes it, or another
  // program replaces it), not_found (its directory), denied, io.
  static Result<std::unique_ptr<OutputFile>> make(const std::string& path, bool replaces,
                                                  const std::optional<FileState>& former);
  // Written in large pieces.
  FileWrites& writes() { return writes_; }
  // Copies bytes of a source, in pieces.
  Result<> copy(const tfile::Source&, tfile::ByteRange from, std::uint64_t to);
  // Carries out the plan of a new file: it is then whole, but has no name.
  Result<> complete(const tfile::CommitPlan&);
  // A path by which this process can open it until then.
  std::string path() const { return file_.path(); }
  // Gives it its name once it is on disk. Error: stale (another program has made or replaced OUT meanwhile).
  Result<> publish() { return file_.publish(place_); }
  // The steps in which several get their names together: see NewFile.
  Result<> make_ready() { return file_.make_ready(place_); }
  Result<> swap_in() { return file_.swap_in(place_); }
  Result<> swap_back() { return file_.swap_back(place_); }
  void remove_former() { file_.remove_former(); }
  const FilePlace& place() const { return place_; }
  const std::string& other_name() const { return file_.other_name(); }

 private:
  OutputFile(FilePlace place, std::optional<FileClaim> replaced, NewFile file)
      : place_(std::move(place)), replaced_(std::move(replaced)), file_(std::move(file)), writes_(file_.get()) {}

  FilePlace place_;
  std::optional<FileClaim> replaced_;
  NewFile file_;
  FileWrites writes_;
};

}  // namespace tfilefs
