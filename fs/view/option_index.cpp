// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "array/npy.h"
#include "exec/for_each.h"
#include "on_behalf.h"
#include "view/optional_rows.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using tfile::Column;
using tfile::NodeId;
using tfile::NodeKind;

// The offsets of a node of lists of 0 or 1, or the tags of a variant: its first child.
const Column* telling_column(const tfile::Table& table, NodeId id) {
  const tfile::Node& node = table.nodes[id];
  if ((node.kind != NodeKind::optional && node.kind != NodeKind::variant) || node.children.empty()) return nullptr;
  return &table.columns[*table.nodes[node.children[0]].column];
}

// The offsets of directly nested lists of 0 or 1, those of the node first.
std::vector<const Column*> nested_options(const tfile::Table& table, NodeId node) {
  std::vector<const Column*> options;
  for (const Column* column = telling_column(table, node); column && column->optional;) {
    options.push_back(column);
    const auto& children = table.nodes[node].children;
    if (children.size() < 2) break;
    node = children[1];
    column = table.nodes[node].kind == NodeKind::optional ? telling_column(table, node) : nullptr;
  }
  return options;
}

// Asks how many lists each of the columns has, one after the other; each has as many as the one before has items.
void option_levels(std::shared_ptr<CachedStreams> streams, const std::shared_ptr<const tfile::Table>& table,
                   std::vector<const Column*> options, Reply<OptionalRows> reply) {
  const std::size_t count = options.size();
  auto ask = [streams = std::move(streams), table, options = std::move(options)](std::size_t i, OptionalRows& rows,
                                                                                 Reply<void> done) {
    auto add = [&column = *options[i], &rows](std::int64_t offsets) {
      const std::int64_t lists = std::max<std::int64_t>(0, offsets - 1);
      if (rows.lists.empty()) rows.count = lists;
      rows.step_into(column, lists);
    };
    streams->length(options[i]->stream, options[i]->slot, answer_with<std::int64_t>(std::move(done), std::move(add)));
  };
  for_each(count, OptionalRows(), std::move(ask), std::move(reply));
}

}  // namespace

bool has_option_index(const tfile::Table& table, NodeId node) { return telling_column(table, node) != nullptr; }

void option_index_content(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table,
                          NodeId node, Reply<std::shared_ptr<Content>> reply) {
  const Column* column = telling_column(*table, node);
  if (!column) return reply(tfile::fail(ErrorKind::not_found, "no column with nulls"));
  if (!column->optional) {
    const std::int64_t null = -1;
    std::string bytes(sizeof null, '\0');
    std::memcpy(bytes.data(), &null, sizeof null);
    return reply(std::make_shared<FixedContent>(npy_header(tfile::Dtype::i8, {}, 1) + bytes));
  }
  auto lay_out = [streams](const OptionalRows& rows) {
    Segments segments;
    segments.add_bytes(npy_header(tfile::Dtype::i8, {}, rows.count));
    add_item_numbers(segments, rows);
    return segment_content(streams, std::move(segments));
  };
  option_levels(streams, table, nested_options(*table, node),
                answer_with<OptionalRows>(std::move(reply), std::move(lay_out)));
}

}  // namespace tfilefs
