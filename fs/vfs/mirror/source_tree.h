// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "descriptor.h"
#include "mutex.h"
#include "staging/journal/file_place.h"
#include "vfs/chain/named_chains.h"
#include "vfs/nodes/directory.h"
#include "vfs/nodes/generation.h"

namespace tfilefs {

class WrittenFile;

// A directory of the host, mirrored live. No file outside of it is ever reached: every path is walked by the kernel
// from its descriptor (openat2, RESOLVE_BENEATH), and links are followed only to see whether they lead to a ROOT file
// of the same tree. The host is looked at anew for each request; every look is a job for a thread that may block. If a
// caller is given, the host decides as if the caller had asked it directly (vfs/nodes/acting_for.h).
class SourceTree : public std::enable_shared_from_this<SourceTree> {
 public:
  // `hidden`: a path below the directory that is not shown: the mount point itself, if it lies inside; else empty.
  // Errors: as open(2).
  static Result<std::shared_ptr<SourceTree>> open(MountContext&, const std::string& directory, std::string hidden);

  std::shared_ptr<const Vnodes> root();
  // The path of the directory that is mirrored, without links.
  const std::string& real_path() const { return real_path_; }

  // All block. `path` is relative to the directory, "" is itself; `links`: whether a link at its end is followed, as
  // far as it stays inside.
  struct Found {
    Entry entry;                             // how it is shown if it is not a ROOT file
    std::shared_ptr<MountedFile> root_file;  // set if the first bytes say that it is one
    std::shared_ptr<WrittenFile> written;    // set if it may be written, or will be a ROOT file
    bool is_directory = false;               // of the host
    bool is_link = false;                    // shown as what its reader may see behind it; where one writes, as a link
    bool is_own = false;                     // only for the user who mounts
  };
  Result<Found> look_up(const std::string& path, const CallerPtr& = nullptr);
  Result<struct stat> status(const std::string& path, const CallerPtr& = nullptr) const;
  Result<Descriptor> open_path(const std::string& path, int flags, bool links, const CallerPtr& = nullptr) const;
  Result<std::string> link_target(const std::string& path, const CallerPtr& = nullptr) const;
  Result<std::shared_ptr<const Listing>> list(const std::string& path, const CallerPtr& = nullptr);
  // The file that a caller finds at `below` (a path that may lead through links) from the directory of `path`.
  Result<Descriptor> open_beside(const std::string& path, const std::string& below, int flags, const CallerPtr&) const;

  // On a writable mount: a ROOT file at the path, existing or not; `make`: it is made.
  Result<std::shared_ptr<WrittenFile>> written_file(const std::string& path);
  // The same for a file that a caller makes. Error: denied, if it may not make names in the directory.
  Result<std::shared_ptr<WrittenFile>> new_written_file(const std::string& path, Creation&, const CallerPtr&);
  // The file was removed by its name, under which there may be another file from now on.
  void forget(const std::shared_ptr<WrittenFile>&) EXCLUDES(mutex_);
  std::vector<std::shared_ptr<WrittenFile>> written_files();
  // Searches the tree for journals of writers that crashed, and commits them.
  void take_over_journals();
  // Files (their paths) with a journal that could not be taken over, and why. Blocks.
  std::map<std::string, std::string> refused_journals() EXCLUDES(mutex_);

  // Plain files and directories; each blocks. Errors: as the system calls.
  Result<Descriptor> make_file(const std::string& path, const Creation&, bool exclusive, const CallerPtr&);
  Result<> make_directory(const std::string& path, const Creation&, const CallerPtr&);
  Result<> make_link(const std::string& path, const std::string& target, const CallerPtr&);
  Result<> make_hard_link(const std::string& of, const std::string& path, const CallerPtr&);
  Result<> remove(const std::string& path, bool directory, const CallerPtr&);
  Result<> rename(const std::string& from, const std::string& to, unsigned flags, const CallerPtr&);
  Result<> change(const std::string& path, const AttributeChange&, const CallerPtr&);
  static Result<> change(int open_file, const AttributeChange&, const CallerPtr&);

  // Names of a file that has several, the one seen last first. Perhaps not all, and some may be another's by now.
  void note_name(const struct stat&, const std::string& path) EXCLUDES(mutex_);
  std::vector<std::string> names_of(const struct stat&) const EXCLUDES(mutex_);

  // The chain of the ROOT files of a directory that match, or of all (named_chains.h).
  Entry chain(const std::string& directory, const std::string& name, const std::string& pattern);

  MountContext& context() const { return context_; }

 private:
  SourceTree(MountContext& context, Descriptor root, std::string real_path, std::string hidden)
      : context_(context), root_(std::move(root)), real_path_(std::move(real_path)), hidden_(std::move(hidden)) {}
  Result<Descriptor> open_as_is(const std::string& path, int flags, bool links, const CallerPtr&) const;
  Result<Descriptor> parent(const std::string& path, const CallerPtr&) const;
  Result<FilePlace> place(const std::string& path) const;
  Result<std::shared_ptr<WrittenFile>> open_written_file(const std::string& path);
  void tell_of_journal(const std::string& path, bool has_other_names) EXCLUDES(mutex_);
  Result<struct stat> status_of_other_journal(const std::string& path) const;
  Result<Found> look_up_written(const std::string& path);
  void take_over_journals_in(const std::string& path, int depth);
  bool is_hidden(std::string_view path) const;
  // A journal is not shown, so nobody would see that one is replaced. Error: denied (EPERM).
  Result<> check_new_name(const std::string& path) const;
  Result<std::string> shown_link(const Descriptor& link, const std::string& path, const CallerPtr&) const;
  Result<std::string> inside_path_of_link(const std::string& path, const CallerPtr&) const;
  std::shared_ptr<MountedFile> root_file(const std::string& path);
  void note_another(const std::string& path) EXCLUDES(mutex_);
  void note_others_below(const std::string& path) EXCLUDES(mutex_);

  MountContext& context_;
  const Descriptor root_;
  const std::string real_path_;
  const std::string hidden_;
  NamedChains chains_;
  mutable Mutex mutex_{"SourceTree::mutex_", "MountedFile::mutex_"};
  std::unordered_map<std::string, std::shared_ptr<MountedFile>> root_files_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::shared_ptr<WrittenFile>> written_ GUARDED_BY(mutex_);
  std::map<std::pair<dev_t, ino_t>, std::vector<std::string>> names_ GUARDED_BY(mutex_);  // of files with several
  std::set<std::string> opening_ GUARDED_BY(mutex_);  // paths for which written_ is being made
  std::map<std::string, std::string> refused_ GUARDED_BY(mutex_);
  // Device, inode, size and time of a journal.
  using JournalState = std::tuple<dev_t, ino_t, off_t, time_t, long>;
  std::unordered_map<std::string, JournalState> told_
      GUARDED_BY(mutex_);  // by the file's path; on a mount that is not writable
  Condition opened_;
};

}  // namespace tfilefs
