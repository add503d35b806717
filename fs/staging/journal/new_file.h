// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

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
  // Takes all bytes of an open file, and its extended attributes as far as they can be set.
  Result<> copy_from(int file);
  // Whether the name is as it was when this was made. Error: stale.
  Result<> check_place(const FilePlace&) const;
  // Syncs it, gives it its name, and syncs that. It takes the place of the file that had the name when this was made,
  // and of no other. Error: stale (another one has the name by now, or none).
  Result<> publish(const FilePlace&);

  // The same in steps, for several files that all get their names, or none does. First each is made ready: it is on
  // disk, under a name that nobody else chooses, so that only names are left to change. Error: stale.
  Result<> make_ready(const FilePlace&);
  // Gives it its name. What had that name has the other one until remove_former(). Error: stale, after which all is as
  // it was.
  Result<> swap_in(const FilePlace&);
  // The reverse: what had the name has it again. Error: stale (another program has put a file there meanwhile).
  Result<> swap_back(const FilePlace&);
  void remove_former();
  // The name of the former file, between swap_in() and remove_former(); "" if there was none.
  const std::string& other_name() const { return name_; }
  // The published file, for writing.
  Descriptor release() { return std::move(file_); }

 private:
  NewFile(Descriptor directory, Descriptor file, std::string name, std::optional<FileId> former)
      : directory_(std::move(directory)), file_(std::move(file)), name_(std::move(name)), former_(former) {}
  void drop();
  Result<> put_on_disk(const FilePlace&);
  Result<> give_name(const FilePlace&);
  Result<> exchange_names(const FilePlace&);
  Result<> take_place(const FilePlace&);

  Descriptor directory_;
  Descriptor file_;
  std::string name_;  // until it is published, if it has one; after swap_in() that of the former file
  std::optional<FileId> former_;
};

// A file that is removed together with others: first it loses its name, and can still get it back.
class LeavingFile {
 public:
  // Takes note of the file that is there.
  explicit LeavingFile(FilePlace place) : place_(std::move(place)), id_(place_.id()) {}
  // Error: stale (another file is there).
  Result<> set_aside();
  Result<> put_back();
  void remove();

 private:
  FilePlace place_;
  std::optional<FileId> id_;
  std::string name_;  // while it is set aside
};

}  // namespace tfilefs
