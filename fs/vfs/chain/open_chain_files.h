// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "descriptor_limit.h"
#include "mutex.h"
#include "vfs/chain/chain_facts.h"
#include "view/chain/chain_counts.h"

namespace tfilefs {

// The files of a table of a chain, opened when they are read. Those read last stay open, as do those that
// RecentGenerations keeps; some are opened at the same time, and the others wait. Thread-safe.
class OpenChainFiles final : public ChainFiles, public std::enable_shared_from_this<OpenChainFiles> {
 public:
  struct File {
    std::shared_ptr<MountedFile> mounted;  // null: it has nothing of the table
    std::string table;                     // path of the table in it
    // As it was when its facts were read:
    tfile::Identity identity;
    std::string uuid;
    std::shared_ptr<const TableFacts> facts;
  };
  OpenChainFiles(ClusterCache& cache, std::vector<File> files)
      : cache_(cache), files_(std::move(files)), open_(files_.size()) {}

  void streams(std::size_t file, Reply<std::shared_ptr<CachedStreams>>) override EXCLUDES(mutex_);
  bool is_stale(std::size_t file) const override EXCLUDES(mutex_);
  std::string name(std::size_t file) const override { return files_[file].mounted ? files_[file].mounted->path() : ""; }
  // The file has changed: it is not read any more.
  void set_stale(std::size_t file) EXCLUDES(mutex_);
  const File& file(std::size_t i) const { return files_[i]; }

 private:
  using StreamsPtr = std::shared_ptr<CachedStreams>;
  // Few, since each takes descriptors, and the memory of its table.
  static constexpr std::size_t kKept = 16, kOpening = 32, kDescriptors = 8;

  struct Open {
    std::weak_ptr<CachedStreams> streams;
    bool is_stale = false;
    std::vector<Reply<StreamsPtr>> waiters;  // while it is opened, or waits for that
  };
  void start(std::size_t file);
  void open(std::size_t file, Reply<WholeTable>);
  void find(std::size_t file, const GenerationPtr&, Reply<WholeTable>);
  void close_idle() EXCLUDES(mutex_);
  void finish(std::size_t file, const Result<WholeTable>&) EXCLUDES(mutex_);
  Result<StreamsPtr> checked(std::size_t file, const Result<WholeTable>&) const;
  StreamsPtr keep(const StreamsPtr&) REQUIRES(mutex_);  // returns what goes for it

  ClusterCache& cache_;
  const std::vector<File> files_;
  const std::size_t kept_max_ = files_within_limit(kKept, kDescriptors),
                    opening_max_ = files_within_limit(kOpening, kDescriptors);
  mutable Mutex mutex_{"OpenChainFiles::mutex_"};
  std::vector<Open> open_ GUARDED_BY(mutex_);
  std::deque<StreamsPtr> kept_ GUARDED_BY(mutex_);
  std::deque<std::size_t> queue_ GUARDED_BY(mutex_);  // files that wait for their turn
  std::size_t opening_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tfilefs
