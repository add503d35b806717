// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mutex.h"
#include "staging/staged_file.h"
#include "vfs/nodes/directory.h"
#include "vfs/nodes/generation.h"

namespace tfilefs {

// A ROOT file that may be written: its committed contents, and staged contents over them. Thread-safe; an operation
// that needs storage answers later.
class WrittenFile : public std::enable_shared_from_this<WrittenFile> {
 public:
  WrittenFile(MountContext& context, std::shared_ptr<StagedFile> staged, std::shared_ptr<MountedFile> mounted)
      : context_(context), staged_(std::move(staged)), mounted_(std::move(mounted)) {}

  MountContext& context() const { return context_; }
  StagedFile& staged() const { return *staged_; }
  Overlay& overlay() const { return staged_->overlay(); }
  Changes& changes() const { return staged_->changes(); }
  const std::string& path() const { return mounted_->path(); }           // in the mount
  GenerationPtr latest_generation() const { return mounted_->known(); }  // null: none that is in use

  // The vnodes of one of its directories; the same one for as long as it is in use.
  std::shared_ptr<const Vnodes> directory(const NodePtr&) EXCLUDES(mutex_);
  void forget_directory(const NodePtr&) EXCLUDES(mutex_);  // its vnodes are not in use any more
  std::shared_ptr<const Vnodes> root() { return directory(staged_->root()); }

  // The committed directory beneath a staged node; null if there is none.
  void committed_directory(const NodePtr&, Freshness, Reply<std::shared_ptr<const Directory>>);
  // The entry committed under a name there. Error: not_found.
  void committed_entry(const NodePtr& directory, std::string_view name, Freshness, Reply<FoundEntry>);

  // As Vnodes::admit, for anything in the file.
  void admit(Access, const CallerPtr&, Reply<void>) const;

  // The mode of those who may stage behind a committed column: its owner, and those who may write the file.
  mode_t write_bits() const;
  // The attributes of a staged file or directory; of a committed directory all but its times.
  Attributes staged_attributes(const StagedNode&) const;
  // The same for a directory with its times: those of the committed directory beneath it; for the root those of the
  // file.
  void directory_attributes(const NodePtr&, Reply<Attributes>);
  void directory_xattrs(const NodePtr&, Reply<Xattrs>);
  void more_directory_xattrs(const NodePtr&, Reply<Xattrs>);

 private:
  using Names = std::vector<std::string>;
  // The vnodes of a node, and the committed directory beneath, as long as they are in use.
  struct Known {
    std::weak_ptr<const Vnodes> vnodes;
    std::weak_ptr<const Directory> committed;
    Names path;  // of that directory in its generation
  };
  static std::uint64_t key_of(const StagedNode&);
  std::shared_ptr<const Directory> entered(const StagedNode&, const GenerationPtr&, const Names& path) EXCLUDES(mutex_);
  void note_entered(const StagedNode&, const std::shared_ptr<const Directory>&, const Names& path) EXCLUDES(mutex_);
  template <class T, class Ask>
  void of_committed(const NodePtr&, Ask, Reply<T>);

  MountContext& context_;
  const std::shared_ptr<StagedFile> staged_;
  const std::shared_ptr<MountedFile> mounted_;
  Mutex mutex_{"WrittenFile::mutex_"};
  std::unordered_map<std::uint64_t, Known> directories_ GUARDED_BY(mutex_);
};
using WrittenPtr = std::shared_ptr<WrittenFile>;

// `path`: in the mount. Takes over what a crashed writer has left. Blocks. Errors: as StagedFile::open.
Result<WrittenPtr> open_written(MountContext&, std::shared_ptr<MountedFile>, FilePlace, const std::string& path);

// The only extended attribute that is stored when it is set; setting other names in `user.` is no error.
inline constexpr const char* kTitleAttribute = "user.tfilefs.title";
inline constexpr const char* kEncodingAttribute = "user.tfilefs.encoding";
inline constexpr const char* kClassAttribute = "user.tfilefs.class";

// Applies the changes of chmod and utimens to a staged file or directory; the next mount shows the date that is set.
// Blocks. Errors: those of the journal.
Result<> change_attributes(StagedFile&, const NodePtr&, const AttributeChange&);

// .pending.json.
Entry pending_entry(const WrittenPtr&);

// The entry of a file in a directory: a staged one; or a committed one, to which items can be appended.
Entry staged_entry(const WrittenPtr&, const NodePtr&);
// `commits`: the number of commits before it was looked up.
Entry committed_column_entry(const WrittenPtr&, const NodePtr& directory, std::string name, std::uint64_t commits,
                             Entry committed);

// The committed names of a directory (null: none), with the staged ones over them. `commits`: the number of commits of
// the file before `committed` was looked up.
std::shared_ptr<const Directory> make_written_directory(const WrittenPtr&, const NodePtr&, std::uint64_t commits,
                                                        std::shared_ptr<const Directory> committed);

}  // namespace tfilefs
