// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/cluster_cache.h"
#include "mutex.h"
#include "once.h"
#include "view/chain/chain_table.h"
#include "view/chain/composed_streams.h"

namespace tfilefs {

// The files of a chain's table. Thread-safe.
class ChainFiles {
 public:
  virtual ~ChainFiles() = default;
  // The columns of the table in a file, whose whole table has the schema that the chain knows of it. The file is opened
  // if it is not open. Errors: those of opening; stale, if it is not the file that the chain was made of.
  virtual void streams(std::size_t file, Reply<std::shared_ptr<CachedStreams>>) = 0;
  // Whether the file is known not to be the same any more.
  virtual bool is_stale(std::size_t file) const = 0;
  // For messages.
  virtual std::string name(std::size_t file) const = 0;
};

// An error that was met in a file of a chain, with the name of the file if it names none.
Error met_in(const ChainFiles&, std::size_t file, Error);

// How many items a source counts, where its column has this length.
std::int64_t counted_items(const CountSource&, std::int64_t length);

// The begin of each file's items among those of all, for each count of a chain's table. What the tables of the
// files do not tell is asked for on first need, of all files at once: for the count that is wanted, and when a second
// one is wanted, for all counts for which no file has to decode anything. Thread-safe.
class ChainCounts : public std::enable_shared_from_this<ChainCounts> {
 public:
  using Starts = std::vector<std::int64_t>;

  ChainCounts(std::shared_ptr<const ChainTable>, std::shared_ptr<ChainFiles>);

  StartsPtr known(CountId) const EXCLUDES(mutex_);  // null: not known
  void want(CountId, Reply<StartsPtr>) EXCLUDES(mutex_);

  // The counts of a file by CountId, -1 where they are not known; to keep them for later, and to give what was kept.
  std::vector<std::int64_t> of_file(std::size_t file) const EXCLUDES(mutex_);
  std::size_t known_count() const EXCLUDES(mutex_);  // of all files together
  void give(std::size_t file, const std::vector<std::int64_t>& counts) EXCLUDES(mutex_);

 private:
  struct FileLengths;
  void gather(CountId, Reply<StartsPtr>) EXCLUDES(mutex_);
  template <class T>
  Reply<T> naming_file(std::size_t file, Reply<T>);
  void ask_file(FileLengths, Reply<void>);
  void ask_lengths(FileLengths, std::shared_ptr<CachedStreams>, Reply<void>);
  void add_up(CountId) REQUIRES(mutex_);
  void note(CountId, std::size_t file, std::int64_t count) EXCLUDES(mutex_);
  StartsPtr added_up(CountId) EXCLUDES(mutex_);

  // Files that are asked at the same time: as many as a server may be asked for at once, and few enough for their
  // descriptors.
  static constexpr std::size_t kFilesAtOnce = 32;

  struct Count {
    Once<StartsPtr> wanted;
    StartsPtr starts;                  // once it is known
    std::vector<std::int64_t> counts;  // by file; -1: not known
  };
  const std::shared_ptr<const ChainTable> table_;
  const std::shared_ptr<ChainFiles> files_;
  mutable Mutex mutex_{"ChainCounts::mutex_"};
  std::vector<Count> counts_ GUARDED_BY(mutex_);
  std::size_t rounds_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tfilefs
