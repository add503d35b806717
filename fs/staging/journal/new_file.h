// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "descriptor.h"
#include "reply.h"
#include "staging/journal/file_place.h"

namespace tfilefs {

// A file that is written before it has its name. Until then it has none: no other program can write it or take its
// name, and a crash leaves nothing of it. Where the file system has no such files it has a name that nobody else
// chooses, and goes with this. Every function blocks.
class NewFile {
 public:
  // Errors: denied, no_space, io.
  static Result<NewFile> make(const FilePlace&, const FilePlace::Owner&);
  ~NewFile() { drop(); }
  NewFile(NewFile&&) noexcept;
  NewFile& operator=(NewFile&&) noexcept;

  int get() const { return file_.get(); }
  // A path by which this process can open it.
  std::string path() const;
  // Whether the name is as it was when this was made. Error: stale.
  Result<> check_place(const FilePlace&) const;
  // Syncs it, gives it its name, and syncs that. It takes the place of the file that had the name when this was made,
  // and of no other. Error: stale (another one has the name by now, or none).
  Result<> publish(const FilePlace&);
  // The published file, for writing.
  Descriptor release() { return std::move(file_); }

 private:
  NewFile(Descriptor directory, Descriptor file, std::string name, std::optional<FileId> former)
      : directory_(std::move(directory)), file_(std::move(file)), name_(std::move(name)), former_(former) {}
  void drop();
  Result<> give_name(const FilePlace&);
  Result<> take_place(const FilePlace&);

  Descriptor directory_;
  Descriptor file_;
  std::string name_;  // until it is published, if it has one
  std::optional<FileId> former_;
};

}  // namespace tfilefs
