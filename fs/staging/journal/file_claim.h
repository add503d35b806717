// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "descriptor.h"
#include "reply.h"
#include "staging/journal/file_place.h"

namespace tfilefs {

// The right to write a ROOT file under whatever name: a journal, and its lock, lie beside one name, and a file may have
// several (hard links, a bind mount of the file). So the file itself is locked, too; and while it has several links, an
// attribute of it says beside which of them its journal lies, for those who come after a crash. Every function blocks.
class FileClaim {
 public:
  // Errors: busy (another process writes the file, or this one by another of its names: names both), not_found, denied.
  static Result<FileClaim> take(const FilePlace&);

  bool is_of(const FilePlace&) const;  // whether the place still has this file

  // Before anything is staged: notes in a file with several links that its journal lies beside this name. Errors: busy
  // (it lies beside another name), unsupported (several links, where this cannot be noted), no_space, io.
  Result<> note_name(const FilePlace&);

 private:
  FileClaim(Descriptor file, bool is_locked) : file_(std::move(file)), is_locked_(is_locked) {}

  Descriptor file_;
  bool is_locked_ = false;  // false: the file system has no such locks
};

// The place of the same file under the name beside which a journal of it lies, if that is another one.
std::optional<FilePlace> other_name_with_journal(const FilePlace&);

}  // namespace tfilefs
