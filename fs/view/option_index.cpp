// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "array/npy.h"
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

// Asks how many lists each of them has, one after the other; each has as many as the one before has items.
void add_levels(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table,
                std::vector<const Column*> options, OptionalRows rows, Reply<OptionalRows> reply) {
  if (rows.lists.size() == options.size()) return reply(std::move(rows));
  const Column& column = *options[rows.lists.size()];
  const std::stop_token asker = reply.asker();
  auto told = [streams, table, options = std::move(options), rows = std::move(rows), &column,
               reply = std::move(reply)](Result<std::int64_t> length) mutable {
    if (!length) return reply(tl::unexpected<Error>(length.error()));
    const std::int64_t count = std::max<std::int64_t>(0, *length - 1);
    if (rows.lists.empty()) rows.count = count;
    rows.step_into(column, count);
    add_levels(streams, table, std::move(options), std::move(rows), std::move(reply));
  };
  streams->length(column.stream, column.slot, Reply<std::int64_t>(std::move(told), asker));
}

}  // namespace

bool has_option_index(const tfile::Table& table, NodeId node) { return telling_column(table, node) != nullptr; }

void option_index_content(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table,
                          NodeId node, Reply<std::shared_ptr<Content>> reply) {
  const Column* column = telling_column(*table, node);
  if (!column) return reply(tfile::fail(ErrorKind::not_found, "no values that may be null"));
  if (!column->optional) {
    const std::int64_t null = -1;
    std::string bytes(sizeof null, '\0');
    std::memcpy(bytes.data(), &null, sizeof null);
    return reply(std::make_shared<FixedContent>(npy_header(tfile::Dtype::i8, {}, 1) + bytes));
  }
  const std::stop_token asker = reply.asker();
  auto lay_out = [streams, reply = std::move(reply)](Result<OptionalRows> rows) mutable {
    if (!rows) return reply(tl::unexpected<Error>(rows.error()));
    Segments segments;
    segments.add_bytes(npy_header(tfile::Dtype::i8, {}, rows->count));
    add_item_numbers(segments, *rows);
    reply(segment_content(streams, std::move(segments)));
  };
  auto options = nested_options(*table, node);
  add_levels(streams, table, std::move(options), {}, Reply<OptionalRows>(std::move(lay_out), asker));
}

}  // namespace tfilefs
