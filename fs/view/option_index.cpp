// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "array/npy.h"
#include "view/optional_rows.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using tfile::Column;
using tfile::NodeId;

// The offsets of a node of lists of 0 or 1, or the tags of a variant.
const Column* telling_column(const tfile::Table& table, NodeId node) {
  for (const NodeId child : table.nodes[node].children) {
    if (!table.nodes[child].column) continue;
    const Column& column = table.columns[*table.nodes[child].column];
    if (column.optional || column.role == tfile::Role::tags) return &column;
  }
  return nullptr;
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
  auto lay_out = [streams, table, column, reply = std::move(reply)](Result<std::int64_t> length) mutable {
    if (!length) return reply(tl::unexpected<Error>(length.error()));
    OptionalRows rows{std::max<std::int64_t>(0, *length - 1), {}};
    rows.step_into(*column, rows.count);
    Segments segments;
    segments.add_bytes(npy_header(tfile::Dtype::i8, {}, rows.count));
    add_item_numbers(segments, rows);
    reply(segment_content(streams, std::move(segments)));
  };
  streams->length(column->stream, column->slot, Reply<std::int64_t>(std::move(lay_out), asker));
}

}  // namespace tfilefs
