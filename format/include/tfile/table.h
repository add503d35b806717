// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tfile/stream_set.h"

namespace tfile {

// Another file that branches of a table are stored in (TBranch::fFileName), as it was opened.
struct Sibling {
  std::string name;  // relative to the table's file
  Identity identity;
};

// A TTree (or RNTuple): entries, clusters, a tree of nodes whose leaves are columns, and the streams that feed them.
// The vectors are filled at opening and never change.
// How some branches read only their first entries tell. Nobody looks at these before it is asked what is in the branch:
// in an outline the directories of such branches are empty (`untried`), and their streams have no chunks until they
// were tried.
class Table : public StreamSet {
 public:
  std::string name, title, kind;  // kind: "ttree", "rntuple"
  std::int64_t entries = 0;
  std::vector<Node> nodes;  // nodes[0] is the table's directory
  std::vector<Column> columns;
  std::vector<NodeId> untried;             // of an outline, ascending
  std::vector<ColumnId> may_be_unwritten;  // of an outline, ascending: `reason` of the column in whole() says it
  std::vector<ColumnId> unread;       // of whole(), ascending: those that the storage does not tell, with a `reason`
  std::string reason;                 // why the whole table cannot be read; empty otherwise
  std::vector<std::string> warnings;  // damage met at opening that concerns only parts (a missing sibling file, ...)
  std::vector<Sibling> siblings;      // those that could be opened
  std::size_t attribute_sets = 0;     // so many does File::attribute_sets list

  // The files besides the table's own that the columns of a stream are decoded from.
  virtual std::vector<Sibling> siblings_of(StreamId) const { return {}; }

  bool is_untried(NodeId node) const { return std::binary_search(untried.begin(), untried.end(), node); }
  bool is_unread(ColumnId column) const { return std::binary_search(unread.begin(), unread.end(), column); }
  // Whether nothing was left out.
  bool is_whole() const { return untried.empty() && may_be_unwritten.empty(); }

  // Tries the branch of an untried node and, in the same reads, up to `ahead` others. Gives what is in it as a table of
  // the same streams: node 1 is the directory; the columns, whose paths begin at this table, are those below it and the
  // offsets of the lists around it. Errors: io, stale, ... (of the source, to be asked again; what is damaged is an
  // answer); invalid (another node). Blocks.
  virtual Result<std::shared_ptr<const Table>> tried(NodeId, std::size_t /*ahead*/) const {
    return fail(ErrorKind::invalid, "the table is whole");
  }

  // Tries all of them at once and gives everything, as a table of the same streams, whose nodes have the same children
  // in the same order, and more. What the storage does not give is `unread`: that may be asked again. Errors: stale,
  // ... (of the source). Blocks. For a table that is not whole.
  virtual Result<std::shared_ptr<const Table>> whole() const { return fail(ErrorKind::invalid, "the table is whole"); }

  // The columns of a stream that is in an outline no more than by its number, once it was tried.
  virtual std::vector<Column> columns_tried(StreamId) const { return {}; }
};

}  // namespace tfile
