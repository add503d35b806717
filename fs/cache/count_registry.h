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

// Which table a stream set is. The payload of an object has no path: objects are counted together.
struct TableLabel {
  std::string path;              // in the mount: "/run1.root/Events"
  std::uint64_t generation = 0;  // of its file
};

// What is known of a path whose table was attached at some time.
struct TableReport {
  TableLabel label;   // the generation is the newest
  ReadCounts counts;  // of all states of the file, loaded or not
  // Of the newest state, while it is loaded: the table, and the streams that were used.
  std::shared_ptr<const tfile::StreamSet> set;
  std::vector<std::pair<tfile::StreamId, ReadCounts>> streams;
  // One of at most kTablesMax that are to be told apart by those who can have no more. Does not change while the path
  // is known, so that sums over the others never fall.
  bool is_distinct = false;
};

// Keeps the counts of stream sets by the paths of their tables: those that are attached, and the sums of those that
// are gone. Beyond kTablesMax paths, of those that are gone the one used least recently is forgotten: its sums join
// `forgotten`. Thread-safe.
class CountRegistry {
 public:
  static constexpr std::size_t kTablesMax = 256;

  // To be given back by `close` when the set is no more.
  std::shared_ptr<SetCounts> open(const TableLabel&, const std::shared_ptr<const tfile::StreamSet>&);
  void close(const TableLabel&, const SetCounts*);

  struct Report {
    std::vector<TableReport> tables;  // by path
    ReadCounts objects;
    ReadCounts forgotten;
    std::uint64_t tables_forgotten = 0;
    struct Memory {  // bytes of what is loaded
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
    std::vector<Open> open;  // one for each state of the file that is still in use
    std::uint64_t generation = 0;
    ReadCounts past;
    std::uint64_t last_use = 0;
    bool is_distinct = false;
  };
  static TableReport report_of(const std::string& path, const Table&, bool with_streams, Report::Memory& memory);
  void forget_one() REQUIRES(mutex_);

  const std::shared_ptr<SetCounts> objects_ = std::make_shared<SetCounts>();
  mutable Mutex mutex_;
  std::map<std::string, Table, std::less<>> tables_ GUARDED_BY(mutex_);
  ReadCounts forgotten_ GUARDED_BY(mutex_);
  std::uint64_t tables_forgotten_ GUARDED_BY(mutex_) = 0;
  std::size_t distinct_ GUARDED_BY(mutex_) = 0;  // tables_ that are
  std::uint64_t clock_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tfilefs
