// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/read_counts.h"
#include "cache/set_counts.h"
#include "mutex.h"
#include "tfile/stream_set.h"

namespace tfilefs {

// The table that a stream set belongs to. The payload of an object has no path: objects are counted together.
struct TableLabel {
  std::string path;              // in the mount: "/run1.root/Events"
  std::uint64_t generation = 0;  // of its file
};

// The counts of a path, at which a table was attached at some time.
struct TableReport {
  TableLabel label;   // the generation is the newest
  ReadCounts counts;  // of all states of the file, loaded or not
  // The newest state, while it is loaded: the table, and the streams that were used.
  std::shared_ptr<const tfile::StreamSet> set;
  std::vector<std::pair<tfile::StreamId, ReadCounts>> streams;
  // One of at most kTablesMax tables that a bounded list shows separately. Does not change while the path is known, so
  // that sums over the others never fall.
  bool is_distinct = false;
};

// Keeps the counts of stream sets by the paths of their tables: those that are attached, and the sums of those that are
// gone. Beyond kTablesMax paths the least recently used of those that are gone is forgotten: its sums are added to
// `forgotten`. Thread-safe.
class CountRegistry {
 public:
  static constexpr std::size_t kTablesMax = 256;

  explicit CountRegistry(bool by_stream = true) : by_stream_(by_stream) {}

  // To be returned with `close` when the set is destroyed.
  std::shared_ptr<SetCounts> open(const TableLabel&, const std::shared_ptr<const tfile::StreamSet>&);
  void close(const TableLabel&, const SetCounts*);

  struct Report {
    std::vector<TableReport> tables;  // by path
    ReadCounts objects;
    ReadCounts forgotten;
    std::uint64_t tables_forgotten = 0;
    struct Memory {  // bytes of tables and objects that are loaded
      std::uint64_t sets = 0, extents = 0, counts = 0;
      void add(const SetCounts&);
    } memory;
    ReadCounts total() const;
  };
  Report report(bool with_streams) const;

 private:
  struct Open {
    std::uint64_t generation = 0;
    std::shared_ptr<SetCounts> counts;
    std::weak_ptr<const tfile::StreamSet> set;
  };
  struct Table {
    std::vector<Open> open;  // one per state of the file that is still in use
    std::uint64_t generation = 0;
    ReadCounts past;
    std::uint64_t last_use = 0;
    bool is_distinct = false;
  };
  static TableReport report_of(const std::string& path, const Table&, bool with_streams, Report::Memory& memory);
  void forget_one() REQUIRES(mutex_);

  const bool by_stream_;
  const std::shared_ptr<SetCounts> objects_ = std::make_shared<SetCounts>(by_stream_);
  mutable Mutex mutex_{"CountRegistry::mutex_"};
  std::map<std::string, Table, std::less<>> tables_ GUARDED_BY(mutex_);
  ReadCounts forgotten_ GUARDED_BY(mutex_);
  std::uint64_t tables_forgotten_ GUARDED_BY(mutex_) = 0;
  std::size_t distinct_ GUARDED_BY(mutex_) = 0;  // how many of tables_ are
  std::uint64_t clock_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tfilefs
