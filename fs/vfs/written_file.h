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
  void forget_directory(const NodePtr&) EXCLUDES(mutex_);  // nobody has what stood for it any more
  std::shared_ptr<const Holder> root() { return directory(staged_->root()); }

  // The committed directory beneath a staged node, null where there is none.
  void committed_directory(const NodePtr&, Freshness, Reply<std::shared_ptr<const Directory>>);
  // What is committed under a name there. Error: not_found.
  void committed_entry(const NodePtr& directory, std::string_view name, Freshness, Reply<FoundEntry>);

  // As Holder::admit, of anything in it.
  void admit(Access, const CallerPtr&, Reply<void>) const;

  // What stat(2) shows of a staged file or directory; of a committed directory all but its times.
  Attributes staged_attributes(const StagedNode&) const;
  // The same of a directory with its times: those of what is committed under it, of the root those of the file.
  void directory_attributes(const NodePtr&, Reply<Attributes>);
  void directory_xattrs(const NodePtr&, Reply<Xattrs>);

 private:
  using Names = std::vector<std::string>;
  // Of a node: what stands for it, and the committed directory beneath, as long as somebody has them.
  struct Known {
    std::weak_ptr<const Holder> holder;
    std::weak_ptr<const Directory> committed;
    Names path;  // where that stands in its generation
  };
  static std::uint64_t key_of(const StagedNode&);
  std::shared_ptr<const Directory> entered(const StagedNode&, const GenerationPtr&, const Names& path) EXCLUDES(mutex_);
  void note_entered(const StagedNode&, const std::shared_ptr<const Directory>&, const Names& path) EXCLUDES(mutex_);
  template <class T, class Ask>
  void of_committed(const NodePtr&, Ask, Reply<T>);

  MountContext& context_;
  const std::shared_ptr<StagedFile> staged_;
  const std::shared_ptr<MountedFile> mounted_;
  Mutex mutex_;
  std::unordered_map<std::uint64_t, Known> directories_ GUARDED_BY(mutex_);
};
using WrittenPtr = std::shared_ptr<WrittenFile>;

// `path`: in the mount. What a writer that crashed left is taken over. Blocks. Errors: as StagedFile::open.
Result<WrittenPtr> open_written(MountContext&, std::shared_ptr<MountedFile>, FilePlace, const std::string& path);

// Where a path of the host lies. Errors: as open(2) of its directory.
Result<FilePlace> place_of(const std::string& path);

// The one extended attribute that is kept of those that are set; setting others of `user.` is no error.
inline constexpr const char* kTitleAttribute = "user.tfilefs.title";

// What chmod and utimens ask for, of what is staged.
void apply_change(const AttributeChange&, StagedAttributes&);

// .pending.json.
Entry pending_entry(const WrittenPtr&);

// Of a file in a directory: staged; or committed, to which items can be appended.
Entry staged_entry(const WrittenPtr&, const NodePtr&);
// `commits`: how many there had been before it was looked for.
Entry committed_column_entry(const WrittenPtr&, const NodePtr& directory, std::string name, std::uint64_t commits,
                             Entry committed);

// The committed names of a directory (null: none) and what is staged over them. `commits`: those of the file before
// `committed` was looked up.
std::shared_ptr<const Directory> make_written_directory(const WrittenPtr&, const NodePtr&, std::uint64_t commits,
                                                        std::shared_ptr<const Directory> committed);

}  // namespace tfilefs
