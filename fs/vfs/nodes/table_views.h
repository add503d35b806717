// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "cache/cluster_cache.h"
#include "content.h"
#include "tfile/table.h"
#include "vfs/nodes/directory.h"
#include "view/columnar_form.h"

namespace tfilefs {

class LoadedTable;

// A node of a table, of which a view is made. Everything in it is known.
struct ViewedNode {
  ClusterCache& cache;
  const LoadedTable& loaded;
  std::shared_ptr<CachedStreams> streams;
  std::shared_ptr<const tfile::Table> table;
  tfile::NodeId node = 0;
  StringsAs strings;
};

// A file that is made from a table, or from a node of it.
struct TableView {
  enum class Where : std::uint8_t { beside_table, in_table, beside_node, in_node };
  std::string_view name;  // beside what it is made of: the end of its name
  Where where;
  ViewKind shown_as;
  // Whether a node can have it, judging by its name; and whether listings show that it has it, once everything in the
  // node is known.
  bool (*can_be)(const tfile::Table&, tfile::NodeId);
  bool (*is_there)(const tfile::Table&, tfile::NodeId);
  // Null for .npy, which is a column behind a header: TableVnodes::open().
  void (*make)(const ViewedNode&, Reply<std::shared_ptr<Content>>);
};

// All of them, in the order in which listings show them.
std::span<const TableView> table_views();

// The table of a name beside it: "t.arrow" -> "t", and its view. Nothing if it is none of a view.
struct BesideTable {
  std::string_view table;
  ViewKind shown_as;
};
std::optional<BesideTable> beside_table(std::string_view name);

// The view with this shown_as.
const TableView& table_view(ViewKind);

}  // namespace tfilefs
