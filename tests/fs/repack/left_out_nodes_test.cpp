// SPDX-License-Identifier: Apache-2.0
#include "repack/left_out_nodes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "view/chain/chain_schema.h"
#include "view/chain/chain_table.h"

namespace tfilefs {
namespace {

using tfile::ColumnId;
using tfile::NodeId;
using tfile::NodeKind;

// A table of a file, filled by hand; as ChainTable is one, it has streams.
class FileTable {
 public:
  FileTable() {
    schema_.nodes.emplace_back();
    schema_.counts = {{}};
  }
  NodeId add(NodeId parent, const std::string& name, NodeKind kind = NodeKind::record) {
    const auto id = static_cast<NodeId>(schema_.nodes.size());
    schema_.nodes[parent].children.push_back(id);
    tfile::Node& made = schema_.nodes.emplace_back();
    made.kind = kind;
    made.name = name;
    return id;
  }
  void name_branch(NodeId node, const std::string& name) { schema_.nodes[node].branch_name = name; }
  NodeId add_number(NodeId parent, const std::string& path, const std::string& reason = {}) {
    const NodeId id = add(parent, path.substr(path.rfind('/') + 1), NodeKind::number);
    const auto column = static_cast<ColumnId>(schema_.columns.size());
    tfile::Column& made = schema_.columns.emplace_back();
    made.path = path;
    made.name = schema_.nodes[id].name;
    made.dtype = tfile::Dtype::f4;
    made.reason = reason;
    made.stream = 7 + column;
    schema_.nodes[id].column = column;
    schema_.chained.emplace_back();
    return id;
  }
  ChainTable table() const { return ChainTable(schema_, {ChainedFile{0, 3, {0, 3}}}, {}); }

 private:
  ChainSchema schema_;
};

TEST(LeftOutNodes, AreThoseThatTheOtherTableDoesNotShow) {
  FileTable own, shown;
  own.add_number(0, "x.f4");
  const NodeId bare = own.add(0, "bare");
  own.add_number(bare, "bare/offsets.i8");
  const NodeId record = own.add(0, "event");
  const NodeId hidden = own.add_number(record, "event/lost.f4", "its first entries cannot be read");
  own.add_number(record, "event/y.f4");
  shown.add_number(0, "x.f4");
  shown.add_number(shown.add(0, "event"), "event/y.f4");
  EXPECT_EQ(nodes_left_out(own.table(), shown.table()), (std::vector<NodeId>{bare, hidden}));
  EXPECT_EQ(nodes_left_out(own.table(), own.table()), std::vector<NodeId>());
  EXPECT_EQ(nodes_left_out(shown.table(), own.table()), std::nullopt);
}

TEST(LeftOutNodes, AreNotAskedForWhereColumnsDiffer) {
  FileTable own, renamed, turned;
  own.add_number(0, "x.f4");
  own.add_number(0, "y.f4");
  renamed.add_number(0, "x.f4");
  renamed.add_number(0, "z.f4");
  turned.add_number(0, "y.f4");
  turned.add_number(0, "x.f4");
  EXPECT_EQ(nodes_left_out(own.table(), renamed.table()), std::nullopt);
  EXPECT_EQ(nodes_left_out(own.table(), turned.table()), std::nullopt);
}

// A chain shows the items of a list, which have a branch of their own, without its name.
TEST(LeftOutNodes, HaveAnyBranchNameBelowTheTop) {
  FileTable own, shown, other;
  own.name_branch(own.add_number(own.add(0, "list", NodeKind::list), "list/values.f4"), "list._0");
  shown.add_number(shown.add(0, "list", NodeKind::list), "list/values.f4");
  const NodeId renamed = other.add(0, "list", NodeKind::list);
  other.add_number(renamed, "list/values.f4");
  other.name_branch(renamed, "other");
  EXPECT_EQ(nodes_left_out(own.table(), shown.table()), std::vector<NodeId>());
  EXPECT_EQ(nodes_left_out(own.table(), other.table()), std::nullopt);
}

}  // namespace
}  // namespace tfilefs
