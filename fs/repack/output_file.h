// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "reply.h"
#include "staging/commit/file_writes.h"
#include "staging/journal/file_claim.h"
#include "staging/journal/file_place.h"
#include "staging/journal/new_file.h"
#include "tfile/source.h"
#include "tfile/writer.h"

namespace tfilefs {

// The file that is written: without a name until publish() (NewFile). A file that it is to replace is claimed until
// then, as mounts claim those that they write. Used by one thread; blocks.
class OutputFile {
 public:
  // Errors: exists (a file of that name, unless it is to be replaced; a journal beside it), busy (a mount writes it, or
  // another program replaces it), not_found (its directory), denied, io.
  static Result<std::unique_ptr<OutputFile>> make(const std::string& path, bool replaces);
  // Written in large pieces.
  FileWrites& writes() { return writes_; }
  // Copies bytes of a source, in pieces.
  Result<> copy(const tfile::Source&, tfile::ByteRange from, std::uint64_t to);
  // Carries out the plan of a new file: it is then whole, but has no name.
  Result<> complete(const tfile::CommitPlan&);
  // A path by which this process can open it until then.
  std::string path() const { return file_.path(); }
  // As publish() will find its place, unless that changes. Error: stale.
  Result<> check_place() const { return file_.check_place(place_); }
  // Gives it its name once it is on disk. Error: stale (another program has made or replaced OUT meanwhile).
  Result<> publish();

 private:
  OutputFile(FilePlace place, std::optional<FileClaim> replaced, NewFile file)
      : place_(std::move(place)), replaced_(std::move(replaced)), file_(std::move(file)), writes_(file_.get()) {}

  FilePlace place_;
  std::optional<FileClaim> replaced_;
  NewFile file_;
  FileWrites writes_;
};

}  // namespace tfilefs
