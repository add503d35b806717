// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "staging/overlay/column_source.h"
#include "staging/overlay/staged_node.h"
#include "tfile/writer.h"

namespace tfilefs {

// A column of a table as it is staged now.
struct StagedColumn {
  NodePtr node;
  std::string path;  // below the table, as shown
  std::shared_ptr<const ColumnSource> bytes;
  std::uint64_t size = 0;    // bytes, those of `base` included
  std::uint64_t base = 0;    // bytes that are committed
  std::uint64_t header = 0;  // bytes in front of the first item: of a .npy file
  // Of offsets: the last one that is committed, where the first new list begins. Set by progress_of.
  std::int64_t committed_end = 0;
  std::string counter;     // of the items of a list: path of the column that counts them, found by progress_of
  std::uint64_t done = 0;  // bytes that a commit has brought into the file, set by it
  std::string unreadable;  // why that file is no column
  bool is_open = false, is_committing = false;
  StagedNode::Clock::time_point first_write{}, last_write{};
  std::string title;
};

// A table in which something is staged.
struct StagedTable {
  NodePtr node;
  std::string path;                   // from the file's root, as shown
  bool committed = false;             // the file has the table
  std::string title;                  // of a new one
  std::string committed_path;         // under this name, until a rename of it or above it is committed
  bool forced = false;                // a .table was put into it
  std::vector<StagedColumn> columns;  // in the order in which they were made
  std::vector<std::string> removed;   // committed names right below it that go: a field each
  std::optional<std::int64_t>
      modified;                      // seconds since the epoch, where somebody has set a time; else that of a commit
  std::vector<std::string> refused;  // why what stands below some of its directories can never be a field
  std::vector<std::string> missing;  // committed columns that were removed while the rest of their field is there
  // All columns are made of one staged Arrow file of that size, which is their node and `node`.
  std::optional<std::uint64_t> arrow_size;
};

// A staged Arrow file that is to become a table.
struct StagedArrow {
  NodePtr node;
  std::string path, table;  // from the file's root, as shown
  std::uint64_t size = 0;
  bool is_open = false;
  std::optional<std::int64_t> modified;  // as of a table
};

// What the file holds of a table. Without fields, but with a reason: some are of a type that is not written, and no
// entries can be added.
struct CommittedTable {
  tfile::CommittedForm form;
  std::int64_t entries = 0;
  // Items of the column of that path. May read all that is stored of it; blocks. Errors: damaged, io.
  std::function<Result<std::int64_t>(const std::string& path)> items;
};

// What one commit is to do.
struct CommitWork {
  struct Key {
    std::string directory, name;  // as shown
  };
  struct Rename {
    Key from, to;
  };
  struct Directory {
    std::string path;
    NodePtr node;
    std::optional<std::int64_t> modified;  // as of a table
  };
  struct Table {
    StagedTable staged;
    std::int64_t entries = 0;  // of the whole table afterwards; what is committed already counts
    bool whole = false;        // no part of it stays staged
  };
  std::vector<Directory> directories;  // to be made, parents first
  std::set<std::string> undecided;     // those in which files are staged, whose names may yet make them tables
  std::vector<Key> removed;
  std::vector<Rename> renamed;
  std::vector<Table> tables;
  bool make_file = false;                                  // there is none yet
  std::vector<NodePtr> moved;                              // the nodes of `renamed`
  std::vector<std::pair<NodePtr, std::string>> whiteouts;  // the names that `removed` come from
  bool empty() const {
    return directories.empty() && removed.empty() && renamed.empty() && tables.empty() && !make_file;
  }
};

// What is staged below a file's root: tables with their columns as they are now, and what is to become of directories
// and keys. Tables are those of the committed state, and of new directories the topmost that holds a column.
struct StagedChanges {
  std::vector<StagedTable> tables;
  std::vector<StagedArrow> arrows;
  CommitWork rest;  // all but tables
  struct Misplaced {
    std::string path;
    bool waits = false;  // for what tells whether it is an item of a list
  };
  std::vector<Misplaced> misplaced;  // files outside of tables
  struct Refused {
    std::string path, reason;
  };
  std::vector<Refused> refused;  // directories outside of tables that can never be committed
};
StagedChanges staged_changes(const NodePtr& root);

// By its name.
inline bool is_offsets(const StagedColumn& column) { return column.path.ends_with("/offsets.i8"); }

// Whether a column is staged as a .npy file, by its name.
bool is_npy(std::string_view path);

// Of a column that is staged as a .npy file: what its header says of it becomes its path. Blocks.
void read_npy_header(StagedColumn&);

// Why the file or directory of that path below a table can never be (in) a column of it, with what is staged beside it;
// empty: it can, or its name says nothing yet. `top`: the directory of the table all of which can not; null: nothing
// but what was asked about.
struct Refusal {
  std::string reason;
  NodePtr top;
};
Refusal refusal_of(const StagedNode& table, const std::string& path);
Refusal refusal_of_directory(const StagedNode& table, const std::string& path);

// The same of what a directory held before it was a table, by directories right below it.
std::vector<Refusal> examine_table(const StagedNode& table);

// Of a new file or directory: the table that it is in, and the path below that; nothing where there is none.
std::optional<std::pair<NodePtr, std::string>> table_above(const StagedNode&);

// Whether a directory is one inside a table, or inside what is refused, in which no file is staged: it is not kept.
bool is_left_over(const StagedNode&);

// Whether a table is what a commit below that path concerns: it lies in it, or the path in the table.
bool concerns(const std::string& below, const std::string& table);

// Whether one of the tables lies at or below a name that another key has in the file as it is: one that is to be
// renamed to it, or removed.
bool rests_on_names(const CommitWork&);

// Leaves out the new directories in which none of the tables lies: what is to be in them is not there yet; `last`:
// nothing comes any more, and those that stay empty stay directories.
void keep_needed_directories(CommitWork&, bool last);

}  // namespace tfilefs
