// SPDX-License-Identifier: Apache-2.0
#include "staging/table_commit.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <future>
#include <memory>
#include <utility>

namespace tfilefs {

using tfile::Basket;
using tfile::EntryRange;

namespace {

// What lies in memory between staging and file at once: enough that every core has baskets to compress while others are
// written, little beside the smallest budgets.
constexpr std::uint64_t kInFlightMax = 64 << 20;

// The part of each branch from which the size of a cluster is estimated.
constexpr double kSampleBytes = 256 << 10;

// The least that OptimizeBaskets gives, and the size above which an entry read at random costs more than a seek does.
constexpr double kBasketBytesMin = 512, kBasketBytesMax = 2 << 20;

const StagedColumn* staged_at(const StagedTable& table, const std::string& path) {
  const auto at = std::find_if(table.columns.begin(), table.columns.end(),
                               [&](const StagedColumn& column) { return column.path == path; });
  return at == table.columns.end() ? nullptr : &*at;
}

// A basket that another thread makes.
struct Making {
  std::size_t branch = 0;
  std::uint64_t bytes = 0;  // of its columns
  std::future<Result<Basket>> basket;
};

Making start_basket(ClusterCache& cache, const tfile::TableWriter& writer, std::size_t branch, EntryRange entries,
                    ColumnItems items) {
  Making making;
  making.branch = branch;
  making.bytes = items.bytes;
  auto task = std::make_shared<std::packaged_task<Result<Basket>()>>(
      [&writer, branch, entries, items = std::move(items)] { return writer.encode(branch, entries, items.columns); });
  making.basket = task->get_future();
  cache.run_task([task] { (*task)(); });
  return making;
}

// Baskets under way, finished in the order in which they were started.
class Baskets {
 public:
  Baskets(tfile::TableWriter& writer, const BasketSink& sink) : writer_(writer), sink_(sink) {}
  ~Baskets() {
    for (Making& left : making_) left.basket.wait();  // they read what is staged
  }

  Result<> add(std::size_t branch, EntryRange entries, ColumnItems items) {
    while (!making_.empty() && in_flight_ + items.bytes > kInFlightMax) TRY_VOID(finish_first());
    in_flight_ += items.bytes;
    making_.push_back(start_basket(sink_.cache, writer_, branch, entries, std::move(items)));
    return {};
  }

  Result<> finish() {
    while (!making_.empty()) TRY_VOID(finish_first());
    return {};
  }

 private:
  Result<> finish_first() {
    Making first = std::move(making_.front());
    making_.pop_front();
    in_flight_ -= first.bytes;
    TRY(Basket basket, first.basket.get());
    const std::uint64_t address = sink_.places.place(basket);
    TRY_VOID(sink_.file.write(address, basket.record.span()));
    writer_.add_basket(first.branch, basket, address);
    sink_.left -= std::min(sink_.left.load(), first.bytes);
    return {};
  }

  tfile::TableWriter& writer_;
  const BasketSink& sink_;
  std::deque<Making> making_;
  std::uint64_t in_flight_ = 0;
};

}  // namespace

TableCommit::TableCommit(tfile::TableWriter* writer)
    : writer_(writer),
      columns_(writer->committed_form().columns),
      committed_{writer->committed_form(), writer->committed_entries()} {
  for (const tfile::BranchForm& form : writer->committed_form().branches)
    branches_.push_back({form, false, writer->committed_entries()});
}

void TableCommit::note_commit() {
  committed_.form.columns = columns_;
  committed_.form.branches.clear();
  for (const Branch& branch : branches_) {
    if (branch.dropped) continue;
    if (committed_.form.reason.empty()) committed_.form.branches.push_back(branch.form);
    committed_.entries = std::max(committed_.entries, branch.entries);
  }
}

Result<> TableCommit::drop_branch(tfile::FileWriter& file, const std::string& name) {
  TRY_VOID(file.drop_branch(writer_, name));
  for (Branch& branch : branches_) branch.dropped |= branch.form.name == name;
  return {};
}

Result<> TableCommit::write(const StagedTable& staged, std::int64_t entries, const BasketSink& sink) {
  TRY_VOID(add_branches(staged));
  std::int64_t begin = entries;
  for (const Branch& branch : branches_) begin = branch.dropped ? begin : std::min(begin, branch.entries);
  if (begin < entries) TRY_VOID(size_clusters(staged, {begin, entries}, sink.autoflush));
  for (std::int64_t at = begin; at < entries; at += cluster_entries_)
    TRY_VOID(write_cluster(staged, {at, std::min(at + cluster_entries_, entries)}, sink));
  return sink.file.flush();
}

Result<> TableCommit::add_branches(const StagedTable& staged) {
  std::vector<tfile::OfferedColumn> offered;
  for (const StagedColumn& column : staged.columns) {
    const bool known = std::any_of(columns_.begin(), columns_.end(),
                                   [&](const tfile::OfferedColumn& c) { return c.path == column.path; });
    if (known) continue;
    TRY(tfile::OfferedColumn made, tfile::offered_column(column.path));
    made.title = column.title;
    offered.push_back(std::move(made));
  }
  if (offered.empty()) return {};
  TRY(const tfile::TableForm form, tfile::table_form(offered));
  TRY_VOID(writer_->add_branches(offered, form));
  const auto first = static_cast<std::uint32_t>(columns_.size());
  columns_.insert(columns_.end(), offered.begin(), offered.end());
  for (tfile::BranchForm branch : form.branches) {
    for (std::uint32_t& column : branch.columns) column += first;
    branches_.push_back({std::move(branch)});
  }
  return {};
}

BranchColumns TableCommit::columns_of(const StagedTable& staged, std::size_t branch) const {
  BranchColumns columns;
  for (const std::uint32_t i : branches_[branch].form.columns) {
    columns.offered.push_back(&columns_[i]);
    columns.staged.push_back(staged_at(staged, columns_[i].path));
  }
  return columns;
}

Result<> TableCommit::sample_branch(const StagedTable& staged, std::size_t number, EntryRange entries) {
  Branch& branch = branches_[number];
  const BranchColumns columns = columns_of(staged, number);
  EntryRange part{entries.begin, std::min(entries.end, entries.begin + 1000)};
  TRY(ColumnItems items, items_of(columns, part));
  const double wanted =
      static_cast<double>(part.size()) * kSampleBytes / static_cast<double>(std::max<std::uint64_t>(1, items.bytes));
  if (part.end < entries.end && wanted > static_cast<double>(part.size())) {
    part.end = std::min(entries.end, part.begin + static_cast<std::int64_t>(wanted));
    TRY(items, items_of(columns, part));
  }
  TRY(const Basket basket, writer_->encode(number, part, items.columns));
  branch.raw = static_cast<double>(basket.raw_bytes) / static_cast<double>(part.size());
  branch.stored = static_cast<double>(basket.record.size()) / static_cast<double>(part.size());
  return {};
}

// The first cluster decides how many entries compress to what is asked for; of each branch its share of that is cut
// into baskets, when the branch is first written.
Result<> TableCommit::size_clusters(const StagedTable& staged, EntryRange entries, std::uint64_t autoflush) {
  double stored = 0;
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    if (branches_[i].dropped) continue;
    if (branches_[i].raw == 0 && branches_[i].entries < entries.end)
      TRY_VOID(sample_branch(staged, i, {std::max(entries.begin, branches_[i].entries), entries.end}));
    stored += branches_[i].stored;
  }
  if (cluster_entries_ == 0)
    cluster_entries_ = std::max<std::int64_t>(1, std::llround(static_cast<double>(autoflush) / std::max(stored, 1e-3)));
  for (Branch& branch : branches_) {
    if (branch.basket_entries != 0) continue;
    const double pieces = std::ceil(branch.raw * static_cast<double>(cluster_entries_) / kBasketBytesMax);
    branch.basket_entries = std::max<std::int64_t>(
        1, std::llround(std::ceil(static_cast<double>(cluster_entries_) / std::max(1.0, pieces))));
  }
  return {};
}

// Baskets lie in the order of their first entries, so that a reader of many branches never goes back.
Result<> TableCommit::write_cluster(const StagedTable& staged, EntryRange entries, const BasketSink& sink) {
  struct Piece {
    std::size_t branch;
    EntryRange entries;
  };
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    if (branches_[i].dropped) continue;
    const std::int64_t step = branches_[i].basket_entries;
    for (std::int64_t at = std::max(entries.begin, branches_[i].entries); at < entries.end; at += step)
      pieces.push_back({i, {at, std::min(at + step, entries.end)}});
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& a, const Piece& b) { return a.entries.begin < b.entries.begin; });
  Baskets baskets(*writer_, sink);
  for (const Piece& piece : pieces) {
    TRY(ColumnItems items, items_of(columns_of(staged, piece.branch), piece.entries));
    TRY_VOID(baskets.add(piece.branch, piece.entries, std::move(items)));
  }
  TRY_VOID(baskets.finish());
  std::vector<std::int32_t> basket_bytes;
  for (Branch& branch : branches_) {
    branch.entries = std::max(branch.entries, entries.end);
    const double bytes = branch.raw * static_cast<double>(branch.basket_entries);
    basket_bytes.push_back(static_cast<std::int32_t>(
        std::clamp(std::ceil(bytes / kBasketBytesMin) * kBasketBytesMin, kBasketBytesMin, kBasketBytesMax)));
  }
  writer_->end_cluster(entries.end, cluster_entries_, basket_bytes);
  return {};
}

}  // namespace tfilefs
