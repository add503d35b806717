// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "array/npy.h"
#include "exec/step_loop.h"
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
class OptionLevels : public std::enable_shared_from_this<OptionLevels> {
 public:
  OptionLevels(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table,
               std::vector<const Column*> options, Reply<OptionalRows> reply)
      : streams_(std::move(streams)),
        table_(std::move(table)),
        options_(std::move(options)),
        asker_(reply.asker()),
        reply_(std::move(reply)) {}

  void next() {
    loop_.next([this, self = shared_from_this()] { ask(); });
  }

 private:
  void ask() {
    if (rows_.lists.size() == options_.size()) return reply_(std::move(rows_));
    const Column& column = *options_[rows_.lists.size()];
    streams_->length(column.stream, column.slot,
                     Reply<std::int64_t>(
                         [self = shared_from_this(), &column](Result<std::int64_t> length) {
                           if (!length) return self->reply_(tl::unexpected<Error>(length.error()));
                           self->add(column, *length);
                           self->next();
                         },
                         asker_));
  }

  void add(const Column& column, std::int64_t offsets) {
    const std::int64_t count = std::max<std::int64_t>(0, offsets - 1);
    if (rows_.lists.empty()) rows_.count = count;
    rows_.step_into(column, count);
  }

  const std::shared_ptr<CachedStreams> streams_;
  const std::shared_ptr<const tfile::Table> table_;
  const std::vector<const Column*> options_;
  const std::stop_token asker_;
  Reply<OptionalRows> reply_;
  OptionalRows rows_;
  StepLoop loop_;
};

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
  std::make_shared<OptionLevels>(streams, table, std::move(options), Reply<OptionalRows>(std::move(lay_out), asker))
      ->next();
}

}  // namespace tfilefs
