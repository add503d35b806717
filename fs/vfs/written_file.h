// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mutex.h"
#include "staging/staged_file.h"
#include "vfs/directory.h"
#include "vfs/generation.h"

namespace tfilefs {

// A ROOT file that may be written: what is committed, and over it what is staged. Thread-safe; what needs storage
// answers later.
class WrittenFile : public std::enable_shared_from_this<WrittenFile> {
 public:
  WrittenFile(MountContext& context, std::shared_ptr<StagedFile> staged, std::shared_ptr<MountedFile> mounted)
      : context_(context), staged_(std::move(staged)), mounted_(std::move(mounted)) {}

  MountContext& context() const { return context_; }
  StagedFile& staged() const { return *staged_; }
  const std::string& path() const { return mounted_->path(); }           // in the mount
  GenerationPtr latest_generation() const { return mounted_->known(); }  // null: of none that anyone has

  // What stands for a directory of it; the same for as long as anyone has it.
  std::shared_ptr<const Holder> directory(const NodePtr&) EXCLUDES(mutex_);
  std::shared_ptr<const Holder> root() { return directory(staged_->root()); }

  // The committed directory beneath a staged node, null where there is none.
  void committed_directory(const NodePtr&, Freshness, Reply<std::shared_ptr<const Directory>>);
  // What is committed under a name there. Error: not_found.
  void committed_entry(const NodePtr& directory, std::string_view name, Freshness, Reply<FoundEntry>);

  // As Holder::admit, of anything in it.
  void admit(Access, const CallerPtr&, Reply<void>) const;

  // Owner, mode and times of what belongs to no committed key.
  Attributes staged_attributes(const StagedNode&) const;

 private:
  MountContext& context_;
  const std::shared_ptr<StagedFile> staged_;
  const std::shared_ptr<MountedFile> mounted_;
  Mutex mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<const Holder>> directories_ GUARDED_BY(mutex_);
};
using WrittenPtr = std::shared_ptr<WrittenFile>;

// `path`: in the mount. What a writer that crashed left is taken over. Blocks. Errors: as StagedFile::open.
Result<WrittenPtr> open_written(MountContext&, std::shared_ptr<MountedFile>, FilePlace, const std::string& path);

// Where a path of the host lies. Errors: as open(2) of its directory.
Result<FilePlace> place_of(const std::string& path);

// What chmod and utimens ask for, of what is staged.
void apply_change(const AttributeChange&, StagedAttributes&);

// .pending.json.
Entry pending_entry(const WrittenPtr&);

// Of a file in a directory: staged; or committed, to which items can be appended.
Entry staged_entry(const WrittenPtr&, const NodePtr&);
Entry committed_column_entry(const WrittenPtr&, const NodePtr& directory, std::string name, Entry committed);

// The committed names of a directory (null: none) and what is staged over them. `commits`: those of the file before
// `committed` was looked up.
std::shared_ptr<const Directory> make_written_directory(const WrittenPtr&, const NodePtr&, std::uint64_t commits,
                                                        std::shared_ptr<const Directory> committed);

}  // namespace tfilefs
