// SPDX-License-Identifier: Apache-2.0
#include "repack/verify.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "exec/ordered_jobs.h"
#include "repack/selected_items.h"
#include "repack/stopped.h"
#include "tfile/node_columns.h"

namespace tfilefs {

using tfile::Column;
using tfile::ColumnId;
using tfile::EntryRange;
using tfile::KeptEntries;
using tfile::NodeId;

namespace {

// Entries that are compared at once: at first so many, then as many as hold about kBytesTogether.
constexpr std::int64_t kFirstTogether = 16, kMostTogether = 16 << 10;
constexpr std::uint64_t kBytesTogether = 2 << 20;

std::int64_t next_together(std::int64_t entries, std::uint64_t bytes) {
  const std::uint64_t fit = static_cast<std::uint64_t>(entries) * kBytesTogether / std::max<std::uint64_t>(1, bytes);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(fit), 1, std::min(4 * entries, kMostTogether));
}

// The columns of a node at the top of a table, in both tables.
struct ComparedField {
  std::string name;
  FieldOfColumns in, out;
};

struct Compared {
  std::vector<ComparedField> fields;
  std::vector<std::string> not_compared;
};

class FieldFinder {
 public:
  FieldFinder(const tfile::Table& in, const WrittenForm& written)
      : out_(written.table.table()),
        hidden_(written.table.hidden()),
        format_(written.format),
        source_paths_(written.source_paths) {
    for (const Column& column : in.columns) in_by_path_.emplace(column.path, &column);
    for (const Column& column : out_.columns) out_by_path_.emplace(column.path, &column);
    for (const NodeId node : hidden_) hide_columns(node);
  }

  Compared run() {
    for (const NodeId top : out_.nodes[0].children) {
      if (std::ranges::binary_search(hidden_, top)) continue;
      const auto below = tfile::node_columns(out_.nodes, out_.columns, top);
      if (below) {
        add(out_.nodes[top].name, *below);
      } else {
        found_.not_compared.push_back(out_.nodes[top].name);
      }
    }
    return std::move(found_);
  }

 private:
  void hide_columns(NodeId node) {
    if (out_.nodes[node].column) hidden_columns_.insert(*out_.nodes[node].column);
    for (const NodeId child : out_.nodes[node].children) hide_columns(child);
  }

  // Columns that only one table has, and what is in them, are left out: the first entries of a branch tell how it is
  // shown, and they may be others in the other table.
  void add(const std::string& name, const tfile::NodeColumns& below) {
    ComparedField field{name, {}, {}};
    std::vector<std::optional<std::uint32_t>> places(below.columns.size());  // in the field; nothing: left out
    for (std::size_t i = 0; i < below.columns.size(); ++i) {
      if (hidden_columns_.contains(below.columns[i])) continue;
      const Column& column = out_.columns[below.columns[i]];
      const auto renamed = source_paths_.find(column.path);
      const std::string& source_path = renamed == source_paths_.end() ? column.path : renamed->second;
      const auto in = in_by_path_.find(source_path);
      const bool is_inside = below.lists[i] != tfile::FieldForm::kEachEntry;
      if (in == in_by_path_.end() || !are_bytes_alike(source_path, column.path) ||
          (is_inside && !places[below.lists[i]])) {
        found_.not_compared.push_back(column.path);
        continue;
      }
      places[i] = static_cast<std::uint32_t>(field.in.columns.size());
      field.in.columns.push_back(in->second);
      field.out.columns.push_back(&column);
      for (FieldOfColumns* side : {&field.in, &field.out}) {
        side->lists.push_back(is_inside ? *places[below.lists[i]] : below.lists[i]);
        if (!below.variants.empty()) side->variants.push_back(below.variants[i]);
        side->shares_items = format_ == tfile::TableFormat::tree;
      }
    }
    found_.fields.push_back(std::move(field));
  }

  // Whether both tables show what stands beside a column as bytes, or neither does: then offsets count the same things.
  bool are_bytes_alike(std::string_view in_path, std::string_view out_path) const {
    const auto beside = [](std::string_view path) {
      return std::string(path.substr(0, path.rfind('/') + 1)) + "raw.u1";
    };
    return in_by_path_.contains(beside(in_path)) == out_by_path_.contains(beside(out_path));
  }

  const tfile::Table& out_;
  const std::vector<NodeId>& hidden_;
  std::set<ColumnId> hidden_columns_;
  const tfile::TableFormat format_;
  const std::map<std::string, std::string>& source_paths_;
  std::map<std::string_view, const Column*> in_by_path_, out_by_path_;
  Compared found_;
};

Result<> compare(const SelectedEntries& in, const SelectedEntries& out, const ComparedField& field,
                 const std::stop_token& stop) {
  const ReadItems read_in = selected_items(in, field.in, 0), read_out = selected_items(out, field.out, 0);
  std::int64_t together = kFirstTogether;
  for (std::int64_t at = 0; at < in.kept.count();) {
    TRY_VOID(not_stopped(stop));
    const EntryRange numbers{at, std::min(at + together, in.kept.count())};
    TRY(const FieldItems expected, read_in(numbers));
    if (expected.refused) return tl::unexpected(*expected.refused);
    TRY(const FieldItems found, read_out(numbers));
    for (std::size_t i = 0; i < expected.columns.size(); ++i) {
      if (std::ranges::equal(expected.columns[i], found.columns[i])) continue;
      return tfile::fail(ErrorKind::damaged, field.out.columns[i]->path + ": the written data differs, in entries " +
                                                 std::to_string(numbers.begin) + " to " +
                                                 std::to_string(numbers.end - 1));
    }
    at = numbers.end;
    together = next_together(together, expected.bytes);
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> verify_table(ChainSource& in, const KeptEntries& kept, const WrittenForm& written,
                                              ThreadPool& workers, const std::stop_token& stop) {
  ChainSource& out = written.table;
  if (out.table().entries != kept.count())
    return tfile::fail(ErrorKind::damaged, "the written table has " + std::to_string(out.table().entries) +
                                               " entries, expected " + std::to_string(kept.count()));
  Compared found = FieldFinder(in.table(), written).run();
  const KeptEntries all({0, kept.count()});
  const SelectedEntries from{in.streams(), kept, &written.streamed}, to{out.streams(), all};
  OrderedJobs<void> compared([](Result<> done) { return done; });
  for (const ComparedField& field : found.fields)
    compared.start(workers, Urgency::awaited, [&] { return compare(from, to, field, stop); });
  TRY_VOID(compared.take_down_to(0));
  return std::move(found.not_compared);
}

}  // namespace tfilefs
