// SPDX-License-Identifier: Apache-2.0
#pragma once

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
class Table : public StreamSet {
 public:
  std::string name, title, kind;  // kind: "ttree", "rntuple"
  std::int64_t entries = 0;
  std::vector<Node> nodes;  // nodes[0] is the table's directory
  std::vector<Column> columns;
  std::string reason;                 // why the whole table cannot be read; empty otherwise
  std::vector<std::string> warnings;  // damage met at opening that concerns only parts (a missing sibling file, ...)
  std::vector<Sibling> siblings;      // those that could be opened

  // The files besides the table's own that a column is decoded from.
  virtual std::vector<Sibling> siblings_of(ColumnId) const { return {}; }
};

}  // namespace tfile
