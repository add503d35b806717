// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tfile/stream_set.h"

namespace tfile {

// Another file that stores branches of a table (TBranch::fFileName), as it was when opened.
struct Sibling {
  std::string name;  // relative to the table's file
  Identity identity;
};

// A friend that a table names (TFriendElement): a table whose entries belong to its own.
struct FriendName {
  std::string alias;  // the name of its columns' prefix
  std::string table;  // its name in its file
  std::string file;   // a path or a URL, as it was written; empty: the table's own file
};

// A name that a tree has for an expression of its columns (TTree::SetAlias).
struct TableAlias {
  std::string name, expression;
};

// An index of a table (TTreeIndex): its entries by the values of two expressions in each. Sorted by `major`, then by
// `minor`, if the file is as ROOT writes it. All have the same size.
struct EntryIndex {
  std::string major_name, minor_name;
  std::vector<std::int64_t> major, minor, entry;
};

// The form in which a table is stored. Both show the same files.
enum class TableFormat : std::uint8_t { tree, rntuple };

// A TTree or RNTuple: entries, clusters, a tree of nodes whose leaves are columns, and the streams that feed them. The
// vectors are filled at opening and never change.
// Some branches can only be understood from their first entries. These are read when the content of the branch is first
// asked for, not at opening: the directories of such branches are empty (`unresolved`), and their streams have no
// chunks until the branch is resolved.
class Table : public StreamSet {
 public:
  std::string name, title, kind;  // kind: "ttree", "rntuple"
  std::int64_t entries = 0;
  std::vector<Node> nodes;  // nodes[0] is the table's directory
  std::vector<Column> columns;
  std::vector<NodeId> unresolved;          // nodes whose branch is not resolved yet, ascending
  std::vector<ColumnId> may_be_unwritten;  // before resolve_all(), ascending: see `reason` of the column behind it
  std::vector<ColumnId> unread;            // the same of those that may lack values
  std::string reason;                      // why the whole table cannot be read; empty otherwise
  std::vector<std::string> warnings;  // damage met at opening that affects only parts (a missing sibling file, ...)
  std::vector<Sibling> siblings;      // those that could be opened
  std::size_t attribute_sets = 0;     // the number of keys that File::attribute_sets lists
  std::vector<FriendName> friends;
  std::vector<TableAlias> aliases;
  bool has_index = false;  // File::entry_index has one

  // The files, besides the table's own, from which the columns of a stream are decoded.
  virtual std::vector<Sibling> siblings_of(StreamId) const { return {}; }

  bool is_unresolved(NodeId node) const { return std::binary_search(unresolved.begin(), unresolved.end(), node); }
  bool is_unread(ColumnId column) const { return std::binary_search(unread.begin(), unread.end(), column); }
  // Whether the table is complete: everything was resolved at opening.
  bool is_resolved() const { return unresolved.empty() && may_be_unwritten.empty(); }

  // Resolves the branch of an unresolved node and, in the same reads, up to `ahead` others. Returns the content of the
  // branch as a table of the same streams. Its node 1 is the directory of the branch; its columns are those below it
  // and the offsets of the lists around it, with paths that begin at this table. Errors: io, stale, ... (of the source;
  // the caller may try again), invalid (the node is resolved). Damage is part of the answer. Blocks.
  virtual Result<std::shared_ptr<const Table>> resolve_branch(NodeId, std::size_t /*ahead*/) const {
    return fail(ErrorKind::invalid, "the table is resolved");
  }

  // Resolves all branches at once and returns the complete table, of the same streams. Its nodes have the children of
  // this table's nodes, in the same order, and more. Branches that the storage fails to deliver are `unread`; the
  // caller may try again. Errors: stale, ... (of the source). Blocks. Only for a table that is not resolved.
  virtual Result<std::shared_ptr<const Table>> resolve_all() const {
    return fail(ErrorKind::invalid, "the table is resolved");
  }

  // The size of a stored chunk before compression, as its header tells it, with its key; 0 if it is in no basket.
  virtual std::uint64_t unpacked_size(ChunkKey, std::span<const std::byte> /*stored*/) const { return 0; }
  // The algorithm by which a chunk of `stored` bytes is compressed ("zlib", "none", ...), from its first
  // kCodecBytesMax bytes or all of them; empty where that cannot be told.
  static constexpr std::size_t kCodecBytesMax = 4 << 10;
  virtual std::string_view codec_of(ChunkKey, std::span<const std::byte> /*begin*/, std::uint64_t /*stored*/) const {
    return "";
  }
  // The contradiction between a stream's record and all its chunks together. `unpacked`: the sum of their
  // unpacked_size(). Empty: nothing.
  virtual std::string contradicted_sums(StreamId, std::uint64_t /*unpacked*/) const { return {}; }

  // The columns of a stream whose branch was resolved after the opening; the table knows only the number of the stream.
  virtual std::vector<Column> resolved_columns(StreamId) const { return {}; }
};

}  // namespace tfile
