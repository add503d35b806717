// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "mutex.h"
#include "tfile/remote_listing.h"
#include "vfs/chain/named_chains.h"
#include "vfs/names/path_pattern.h"
#include "vfs/nodes/directory.h"
#include "vfs/nodes/generation.h"

namespace tfilefs {

// A directory of a server as a tree of files, read-only. A list that a server has told is believed for
// RemoteOptions::recheck. Which file is a ROOT file is told by its name: its first bytes would cost a round trip each.
// Readers use the rights that the user who mounts has at the server. Paths are relative to the directory, "" is itself.
class RemoteTree : public std::enable_shared_from_this<RemoteTree> {
 public:
  // Nothing is asked of the server before the first list.
  RemoteTree(MountContext& context, std::string url, const tfile::RemoteOptions& options, PathPattern shown)
      : context_(context), url_(std::move(url)), options_(options), shown_(std::move(shown)) {}

  std::shared_ptr<const Vnodes> root();

  // The server's names in a directory. One question serves all that ask meanwhile. Names may be missing: see
  // RemoteListing::gap. Errors: those of list_remote().
  using ListingPtr = std::shared_ptr<const tfile::RemoteListing>;
  void list(const std::string& path, Reply<ListingPtr>) EXCLUDES(mutex_);
  // Whether a path that is there is shown.
  bool shows(const std::string& path) const;

  std::string url_of(const std::string& path) const { return path.empty() ? url_ : tfile::url_below(url_, path); }
  // The ROOT file at a path.
  std::shared_ptr<MountedFile> root_file(const std::string& path, bool is_one_of_many = false) EXCLUDES(mutex_);
  // The chain of the ROOT files of a directory that match, or of all (named_chains.h).
  Entry chain(const std::string& directory, const std::string& name, const std::string& pattern);
  // Those that are open now.
  std::vector<GenerationPtr> open_files() const EXCLUDES(mutex_);
  // The requests of the lists so far.
  tfile::SourceCounts counts() const EXCLUDES(mutex_);

  MountContext& context() const { return context_; }
  const tfile::RemoteOptions& options() const { return options_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Listed {
    ListingPtr listing;         // the last one; null: none yet
    Clock::time_point asked{};  // when it was asked for
    bool is_asking = false;
    std::vector<Reply<ListingPtr>> waiting;
  };
  void ask(const std::string& path) EXCLUDES(mutex_);
  void note(const std::string& path, const tfile::RemoteListing&) EXCLUDES(mutex_);
  void drop_old() REQUIRES(mutex_);

  MountContext& context_;
  const std::string url_;
  const tfile::RemoteOptions options_;
  const PathPattern shown_;
  NamedChains chains_;
  mutable Mutex mutex_{"RemoteTree::mutex_"};
  std::unordered_map<std::string, Listed> listed_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::shared_ptr<MountedFile>> root_files_ GUARDED_BY(mutex_);
  // For each directory that has some, the names that were left out when it was last told of.
  std::unordered_map<std::string, std::vector<std::string>> told_ GUARDED_BY(mutex_);
  tfile::SourceCounts counts_ GUARDED_BY(mutex_);
};

// A directory of a server. `told`: as the list of the directory above it has it.
std::shared_ptr<const Vnodes> make_remote_directory(std::shared_ptr<RemoteTree>, std::string path,
                                                    const tfile::RemoteEntry& told);

}  // namespace tfilefs
