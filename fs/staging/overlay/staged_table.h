// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "array/column_source.h"
#include "staging/overlay/staged_node.h"
#include "tfile/writer.h"

namespace tfilefs {

// A column of a table in its present staged state.
struct StagedColumn {
  NodePtr node;
  std::string path;  // below the table, as shown
  std::shared_ptr<const ColumnSource> bytes;
  std::uint64_t size = 0;    // bytes, including those of `base`
  std::uint64_t base = 0;    // bytes that are committed
  std::uint64_t header = 0;  // bytes before the first item, of a .npy file
  // For offsets: the last committed one, where the first new list begins. Set by progress_of.
  std::int64_t committed_end = 0;
  std::string counter;     // of the items of a list: the path of the column that counts them, found by progress_of
  std::uint64_t done = 0;  // bytes that a commit has brought into the file; set by it
  VariantsSeen variants;   // of the tags of a variant
  std::string unreadable;  // why the file is no column
  bool is_open = false, is_committing = false;
  SteadyClock::Time first_write{}, last_write{};
  std::string title, encoding;
};

// A table with staged contents.
struct StagedTable {
  NodePtr node;
  std::string path;        // from the file's root, as shown
  bool committed = false;  // the table exists in the file
  std::string title;       // of a new one
  tfile::TableFormat format = tfile::TableFormat::tree;
  std::string committed_path;         // its path there, until a rename of it or above it is committed
  bool forced = false;                // a file .table or .rntuple was put into it
  std::vector<StagedColumn> columns;  // in the order of creation
  std::vector<std::string> removed;   // committed names directly below it to be removed: a field each
  std::optional<std::int64_t>
      modified;  // seconds since the epoch, if a program has set a time; otherwise the time of the commit is taken
  std::vector<std::string> refused;            // why the contents of some of its directories can never be a field
  std::map<std::string, std::string> classes;  // that were set on new directories, by their path below the table
  std::vector<std::string> missing;  // committed columns that were removed while others of their field are still there
  // All columns are made from one staged Arrow file of that size, which is their node and `node`.
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

// A new directory that is to become an object, with all files in it and below.
struct StagedObject {
  NodePtr node;
  std::string path;                      // from the file's root, as shown
  std::vector<StagedColumn> files;       // their paths are below it
  std::string title, class_name;         // empty: not set
  std::optional<std::int64_t> modified;  // as of a table
};

// The table in the file. With a reason, and without fields: it has types that are not written, and no entries can be
// added.
struct CommittedTable {
  tfile::TableFormat format = tfile::TableFormat::tree;
  tfile::CommittedForm form;
  std::int64_t entries = 0;
  // Items of the column of that path. May read all its stored bytes; blocks. Errors: damaged, io.
  std::function<Result<std::int64_t>(const std::string& path)> items;
};

// The contents of one commit.
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
    std::string class_name;                // that was set on it
  };
  struct Table {
    StagedTable staged;
    std::int64_t entries = 0;  // of the whole table after the commit, including those committed already
    bool whole = false;        // no part of it stays staged
  };
  std::vector<Directory> directories;  // to be made, parents first
  std::vector<StagedObject> objects;
  std::set<std::string> undecided;  // directories with staged files, whose names may yet make them tables
  std::vector<Key> removed;
  std::vector<Rename> renamed;
  std::vector<Table> tables;
  bool make_file = false;                                  // the file does not exist yet
  std::vector<NodePtr> moved;                              // the nodes of `renamed`
  std::vector<std::pair<NodePtr, std::string>> whiteouts;  // the names behind `removed`
  bool empty() const {
    return directories.empty() && objects.empty() && removed.empty() && renamed.empty() && tables.empty() && !make_file;
  }
};

// The staged contents below a file's root: tables with their columns in their present state, and the changes of
// directories and keys. Tables are those of the committed state; of new directories, the topmost ones that contain a
// column, unless they become objects (makes_object).
struct StagedChanges {
  std::vector<StagedTable> tables;
  std::vector<StagedArrow> arrows;
  std::vector<StagedObject> objects;
  CommitWork rest;  // everything but tables and objects
  struct Misplaced {
    std::string path;
    bool waits = false;  // for a file that decides whether it is an item of a list
    bool is_open = false;
  };
  std::vector<Misplaced> misplaced;  // files outside of tables
  struct Refused {
    std::string path, reason;
  };
  std::vector<Refused> refused;  // directories outside of tables that can never be committed
};
StagedChanges staged_changes(const NodePtr& root);

inline bool is_offsets(const StagedColumn& column) { return column.path.ends_with("/offsets.i8"); }

// The directories above a column: their paths, and the classes that were set on them.
std::vector<std::pair<std::string, std::string>> classes_above(const StagedTable&, const std::string& path);

// Whether a column has the name of the tags of a variant; whether one of the table has.
bool is_tags(std::string_view path);
bool has_tags(const StagedTable&);

// For the path of tags: that of the index that makes a variant with them.
std::optional<std::string> index_beside(std::string_view path);

// Whether a column is staged as a .npy file, by its name.
bool is_npy(std::string_view path);

// For a column that is staged as a .npy file: sets its path by its header. Blocks.
void read_npy_header(StagedColumn&);

// Why the file or directory of that path below a table can never be (in) a column of it, together with the files beside
// it. Empty if it can, or if its name does not tell yet. `top`: the directory within the table that is refused as a
// whole; null: only the path that was asked about.
struct Refusal {
  std::string reason;
  NodePtr top;
};
Refusal refusal_of(const StagedNode& table, const std::string& path);
Refusal refusal_of_directory(const StagedNode& table, const std::string& path);

// The same for all files that a directory contained before it became a table, by the directories directly below it.
std::vector<Refusal> examine_table(const StagedNode& table);

// Why a file or directory of that path cannot come to a field that is committed without it.
std::string reason_of_late(const std::string& path);

// For a new file or directory: the table that contains it, and its path below that; nothing if there is none.
std::optional<std::pair<NodePtr, std::string>> table_above(const StagedNode&);

// Whether a directory is inside a table, or inside a refused directory, and has no staged files: it is not kept.
bool is_left_over(const StagedNode&);

// Whether a table is to be committed by a commit below that path: the table lies below the path, or contains it.
bool concerns(const std::string& below, const std::string& table);

// Whether a table or an object lies at or below a name that the file still has for another key: one that is to be
// renamed to that name, or removed from it.
bool rests_on_names(const CommitWork&);

// Leaves out new directories that contain none of the tables and objects, since their contents are still to come.
// `last`: nothing more will come, and those that stay empty remain directories.
void keep_needed_directories(CommitWork&, bool last);

}  // namespace tfilefs
