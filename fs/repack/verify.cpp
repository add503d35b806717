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
#include "tfile/node_columns.h"

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
      const auto below = tfile::node_columns(out_.nodes, out_.columns, top);
      if (!below || !add(out_.nodes[top].name, *below)) not_compared.push_back(out_.nodes[top].name);
    }
  }

 private:
  // False: it cannot be compared.
  bool add(const std::string& name, const tfile::NodeColumns& below) {
    ComparedField field{name, {}, {}};
    for (FieldOfColumns* side : {&field.in, &field.out}) {
      side->lists = below.lists;
      side->variants = below.variants;
    }
    for (const ColumnId id : below.columns) {
      const Column& column = out_.columns[id];
      const auto in = in_by_path_.find(column.path);
      // Pointers of trees may share their items.
      const bool is_shared = column.role == Role::tags && format_ == tfile::TableFormat::tree;
      if (is_shared || in == in_by_path_.end()) return false;
      field.in.columns.push_back(in->second);
      field.out.columns.push_back(&column);
    }
    fields.push_back(std::move(field));
    return true;
  }

  const tfile::Table& out_;
  const tfile::TableFormat format_;
  std::map<std::string_view, const Column*> in_by_path_;
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
