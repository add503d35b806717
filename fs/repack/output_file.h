// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "descriptor.h"
#include "reply.h"
#include "staging/commit/file_writes.h"
#include "staging/journal/file_place.h"
#include "tfile/source.h"
#include "tfile/writer.h"

namespace tfilefs {

// The file that is written. It lies under a temporary name beside its own until publish(); if it is not published, it
// goes. Used by one thread; blocks.
class OutputFile {
 public:
  // Errors: exists (a file of that name, unless it is to be replaced), not_found (its directory), denied, io.
  static Result<std::unique_ptr<OutputFile>> make(const std::string& path, bool replaces);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Written in large pieces.
  FileWrites& writes() { return writes_; }
  // Copies bytes of a source, in pieces.
  Result<> copy(const tfile::Source&, tfile::ByteRange from, std::uint64_t to);
  // Carries out the plan of a new file: it is then whole, under its temporary name.
  Result<> complete(const tfile::CommitPlan&);
  std::string temporary_path() const;
  // Gives it its name once it is on disk.
  Result<> publish();

 private:
  OutputFile(FilePlace place, Descriptor file)
      : place_(std::move(place)), file_(std::move(file)), writes_(file_.get()) {}

  FilePlace place_;
  Descriptor file_;
  FileWrites writes_;
  bool published_ = false;
};

}  // namespace tfilefs
