// SPDX-License-Identifier: Apache-2.0
#include "vfs/loaded_table.h"

#include <algorithm>
#include <tuple>

#include "tfile/name.h"
#include "vfs/blocking.h"
#include "view/view.h"

namespace tfilefs {

using tfile::Column;
using tfile::ColumnId;
using tfile::NodeId;

LoadedTable::LoadedTable(std::shared_ptr<const tfile::Table> table, ClusterCache& cache, TableLabel label)
    : cache_(cache), table_(std::move(table)), streams_(cache.attach(table_, std::move(label))) {
  tfile::StreamId streams = 0;
  for (const Column& column : table_->columns) streams = std::max(streams, column.stream + 1);
  stream_begin_.assign(streams + 1, 0);
  for (const Column& column : table_->columns) ++stream_begin_[column.stream + 1];
  for (std::size_t s = 1; s < stream_begin_.size(); ++s) stream_begin_[s] += stream_begin_[s - 1];
  stream_columns_.resize(table_->columns.size());
  std::vector<std::uint32_t> next(stream_begin_.begin(), stream_begin_.end() - 1);
  for (ColumnId c = 0; c < table_->columns.size(); ++c) stream_columns_[next[table_->columns[c].stream]++] = c;
}

std::optional<std::int64_t> LoadedTable::known_length(ColumnId id) const {
  const Column& column = table_->columns[id];
  return streams_->known_length(column.stream, column.slot);
}

void LoadedTable::length(ColumnId id, Reply<std::int64_t> reply) const {
  const Column& column = table_->columns[id];
  streams_->length(column.stream, column.slot, std::move(reply));
}

std::uint64_t LoadedTable::stored_bytes(ColumnId id) const {
  const tfile::StreamId stream = table_->columns[id].stream;
  const std::uint64_t stored = table_->shape(stream).stored_bytes;
  const std::uint32_t begin = stream_begin_[stream], end = stream_begin_[stream + 1];
  if (end - begin == 1) return stored;
  double all = 0, own = 0;
  for (std::uint32_t i = begin; i < end; ++i) {
    const ColumnId c = stream_columns_[i];
    const auto length = known_length(c);
    if (!length) return stored / (end - begin);
    const double size = static_cast<double>(*length) * static_cast<double>(table_->columns[c].item_size());
    all += size;
    if (c == id) own = size;
  }
  return all > 0 ? static_cast<std::uint64_t>(static_cast<double>(stored) * (own / all)) : stored / (end - begin);
}

void LoadedTable::view(NodeId node, Form form, StringsAs strings, Reply<std::shared_ptr<Content>> reply) const {
  Once<std::shared_ptr<Content>> once;
  {
    const Lock lock(mutex_);
    once = views_[{node, form}];
  }
  once.get(
      [&](Reply<std::shared_ptr<Content>> made) {
        switch (form) {
          case Form::text:
            return text_content(streams_, table_, node, std::move(made));
          case Form::arrow:
            return arrow_content(streams_, table_, strings, std::move(made));
          case Form::parquet:
            return parquet_content(streams_, table_, strings, std::move(made));
          case Form::csv:
            return table_text_content(streams_, table_, TextStyle::csv, std::move(made));
          case Form::jsonl:
            return table_text_content(streams_, table_, TextStyle::json, std::move(made));
          case Form::awkward:
            return make_text(awkward_text, std::move(made));
          case Form::option_index:
            return option_index_content(streams_, table_, node, std::move(made));
          default:
            return make_text(schema_text, std::move(made));
        }
      },
      std::move(reply));
}

// Ten thousand columns make megabytes of text: not on the thread of whoever asks.
void LoadedTable::make_text(TextMaker make, Reply<std::shared_ptr<Content>> reply) const {
  auto shared = std::make_shared<Reply<std::shared_ptr<Content>>>(std::move(reply));
  run_job(cache_, [make, streams = streams_, table = table_, shared] {
    make(streams, table, Reply<std::string>([shared](Result<std::string> text) {
           if (!text) return (*shared)(tl::unexpected(std::move(text).error()));
           (*shared)(std::make_shared<FixedContent>(*std::move(text)));
         }));
  });
}

void LoadedTable::index_branches() const {
  const auto& nodes = table_->nodes;
  parents_.assign(nodes.size(), 0);
  for (NodeId node = 0; node < nodes.size(); ++node) {
    if (node != 0 && !nodes[node].branch_name.empty()) by_branch_.push_back(node);
    for (const NodeId child : nodes[node].children) parents_[child] = node;
  }
  std::sort(by_branch_.begin(), by_branch_.end(),
            [&](NodeId a, NodeId b) { return std::tie(nodes[a].branch_name, a) < std::tie(nodes[b].branch_name, b); });
}

bool LoadedTable::is_below(NodeId node, NodeId above) const {
  while (node != above && node != 0) node = parents_[node];
  return node == above;
}

std::optional<NodeId> LoadedTable::find_branch(NodeId below, std::string_view escaped) const {
  const std::string name = tfile::unescape_name(escaped);
  if (tfile::escape_name(name) != escaped) return std::nullopt;
  std::call_once(branches_once_, [this] { index_branches(); });
  const auto& nodes = table_->nodes;
  auto at = std::lower_bound(by_branch_.begin(), by_branch_.end(), name,
                             [&](NodeId node, const std::string& wanted) { return nodes[node].branch_name < wanted; });
  for (; at != by_branch_.end() && nodes[*at].branch_name == name; ++at) {
    if (is_below(*at, below)) return *at;
  }
  return std::nullopt;
}

}  // namespace tfilefs
