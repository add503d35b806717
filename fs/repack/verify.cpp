// SPDX-License-Identifier: Apache-2.0
#include "repack/verify.h"

#include <algorithm>
#include <future>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "exec/started.h"
#include "repack/column_copy.h"
#include "repack/kept_items.h"
#include "repack/stopped.h"
#include "tfile/writer.h"

namespace tfilefs {

using tfile::Column;
using tfile::ColumnId;
using tfile::EntryRange;
using tfile::KeptEntries;
using tfile::NodeId;
using tfile::Role;

namespace {

// Entries that are compared at once.
constexpr std::int64_t kTogether = 16 << 10;

// The columns of a node at the top of a table, in both tables.
struct ComparedField {
  std::string name;
  FieldOfColumns in, out;
};

class FieldFinder {
 public:
  FieldFinder(const tfile::Table& in, const tfile::Table& out, tfile::TableFormat format) : out_(out), format_(format) {
    for (const Column& column : in.columns) in_by_path_.emplace(column.path, &column);
  }

  std::vector<ComparedField> fields;
  std::vector<std::string> not_compared;

  void run() {
    for (const NodeId top : out_.nodes[0].children) {
      field_ = {out_.nodes[top].name, {}, {}};
      is_known_ = true;
      add(top, {});
      if (is_known_) fields.push_back(std::move(field_));
      if (!is_known_) not_compared.push_back(out_.nodes[top].name);
    }
  }

 private:
  // What contains the items of columns: offsets, or of an alternative tags.
  struct Around {
    std::uint32_t list = tfile::FieldForm::kEachEntry;
    std::uint8_t tag = 0;
  };

  void add(NodeId id, Around around) {
    const tfile::Node& node = out_.nodes[id];
    const bool is_variant = node.kind == tfile::NodeKind::variant;
    // Pointers of trees may share their items.
    if (is_variant && format_ == tfile::TableFormat::tree) is_known_ = false;
    const auto first = static_cast<std::uint32_t>(field_.out.columns.size());
    const bool is_list = has_offsets(node);
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      Around inside = around;
      const std::uint32_t tag = out_.nodes[node.children[i]].tag;
      if ((is_list && i > 0) || (is_variant && tag != 0)) inside = {first, static_cast<std::uint8_t>(tag)};
      add(node.children[i], inside);
      if (is_variant && i == 0 && is_known_) note_alternatives(first, node.alternatives.size());
    }
    if (node.column && is_known_) add_column(*node.column, around);
  }

  bool has_offsets(const tfile::Node& node) const {
    const auto leading = node.children.empty() ? std::nullopt : out_.nodes[node.children[0]].column;
    return leading && out_.columns[*leading].role == Role::offsets;
  }

  void note_alternatives(std::uint32_t tags, std::size_t alternatives) {
    is_known_ = alternatives <= UINT8_MAX;
    for (FieldOfColumns* field : {&field_.in, &field_.out})
      field->variants[tags].alternatives = static_cast<std::uint8_t>(alternatives);
  }

  void add_column(ColumnId id, Around around) {
    const Column& column = out_.columns[id];
    const auto in = in_by_path_.find(column.path);
    is_known_ = in != in_by_path_.end();
    if (!is_known_) return;
    for (FieldOfColumns* field : {&field_.in, &field_.out}) {
      field->lists.push_back(around.list);
      field->variants.push_back({around.tag, 0});
    }
    field_.in.columns.push_back(in->second);
    field_.out.columns.push_back(&column);
  }

  const tfile::Table& out_;
  const tfile::TableFormat format_;
  std::map<std::string_view, const Column*> in_by_path_;
  ComparedField field_;
  bool is_known_ = true;
};

class Verification {
 public:
  using Streamed = std::map<std::string, tfile::StreamedClass>;

  Verification(ChainSource& in, const KeptEntries& kept, ChainSource& out, const Streamed& streamed,
               const std::stop_token& stop)
      : in_(in), kept_(kept), out_(out), streamed_(streamed), stop_(stop), all_({0, kept.count()}) {}

  Result<> compare(const ComparedField& field) const {
    GatheredBegin begin(field.in.columns.size()), begin_out = begin;
    for (std::int64_t at = 0; at < kept_.count(); at += kTogether) {
      TRY_VOID(not_stopped(stop_));
      const EntryRange numbers{at, std::min(at + kTogether, kept_.count())};
      TRY(GatheredItems in, gather_items(in_.streams(), field.in, kept_, numbers, begin));
      TRY_VOID(complete_raw(streamed_, field.in, at, in));
      TRY(const GatheredItems out, gather_items(out_.streams(), field.out, all_, numbers, begin_out));
      for (std::size_t i = 0; i < in.columns.size(); ++i) {
        if (std::ranges::equal(in.columns[i], out.columns[i])) continue;
        return tfile::fail(ErrorKind::damaged, field.out.columns[i]->path + ": what was written differs, in entries " +
                                                   std::to_string(numbers.begin) + " to " +
                                                   std::to_string(numbers.end - 1));
      }
    }
    return {};
  }

 private:
  ChainSource& in_;
  const KeptEntries& kept_;
  ChainSource& out_;
  const Streamed& streamed_;
  const std::stop_token stop_;
  const KeptEntries all_;
};

}  // namespace

Result<std::vector<std::string>> verify_table(ChainSource& in, const KeptEntries& kept, const WrittenForm& written,
                                              ThreadPool& workers, const std::stop_token& stop) {
  ChainSource& out = written.table;
  if (out.table().entries != kept.count())
    return tfile::fail(ErrorKind::damaged, "what was written has " + std::to_string(out.table().entries) +
                                               " entries, not " + std::to_string(kept.count()));
  FieldFinder finder(in.table(), out.table(), written.format);
  finder.run();
  const Verification verification(in, kept, out, written.streamed, stop);
  std::vector<std::future<Result<>>> compared;
  for (const ComparedField& field : finder.fields)
    compared.push_back(started(workers, Urgency::awaited, [&] { return verification.compare(field); }));
  for (auto& each : compared) each.wait();
  for (auto& each : compared) TRY_VOID(each.get());
  return std::move(finder.not_compared);
}

}  // namespace tfilefs
