// SPDX-License-Identifier: Apache-2.0
#include "staging/table_commit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tfilefs {

using tfile::Basket;
using tfile::EntryRange;

namespace {

// What lies in memory between staging and file at once: enough that every core has baskets to compress while others are
// written, little beside the smallest budgets and what a thread's cache of the processor holds.
constexpr std::uint64_t kInFlightMax = 16 << 20;

// The part of all branches together, and of each, from which the size of a cluster is estimated.
constexpr double kSampleBytesAll = 8 << 20, kSampleBytesMin = 8 << 10, kSampleBytesMax = 256 << 10;

// The least that OptimizeBaskets gives, and the size above which zstd works in tables that are too large for a core's
// cache (half as fast, for a thousandth of the bytes) and an entry read at random costs more than a seek does.
constexpr double kBasketBytesMin = 512, kBasketBytesMax = 128 << 10;
constexpr double kBasketBytesOver = 1.02;       // of it: its key and the length of its offsets
constexpr std::int64_t kSampleEntriesMin = 16;  // from which is seen how many there should be

// Powers of two, so that few baskets lie across two of the staged blocks.
std::int64_t basket_entries_for(double entry_bytes) {
  const double most = kBasketBytesMax * kBasketBytesOver / std::max(entry_bytes, 1e-3);
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max(1.0, most))));
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
  cache.exec().arena.run([task] { (*task)(); }, Urgency::ahead);
  return making;
}

// A basket of about `wanted` bytes of the branch's columns.
Result<Making> start_sample(ClusterCache& cache, const tfile::TableWriter& writer, std::size_t branch,
                            const BranchColumns& columns, EntryRange entries, double wanted) {
  EntryRange part{entries.begin, std::min(entries.end, entries.begin + kSampleEntriesMin)};
  TRY(ColumnItems items, items_of(columns, part));
  const double more =
      static_cast<double>(part.size()) * wanted / static_cast<double>(std::max<std::uint64_t>(1, items.bytes));
  if (part.end < entries.end && more > static_cast<double>(part.size())) {
    part.end = std::min(entries.end, part.begin + static_cast<std::int64_t>(more));
    TRY(items, items_of(columns, part));
  }
  return start_basket(cache, writer, branch, part, std::move(items));
}

// Baskets under way, finished in the order in which they were started.
class BasketsUnderWay {
 public:
  explicit BasketsUnderWay(std::function<Result<>(Making&)> finish) : finish_(std::move(finish)) {}
  ~BasketsUnderWay() {
    for (Making& left : making_) left.basket.wait();  // they read what is staged
  }
  BasketsUnderWay(const BasketsUnderWay&) = delete;
  BasketsUnderWay& operator=(const BasketsUnderWay&) = delete;

  Result<> add(Making making) {
    in_flight_ += making.bytes;
    making_.push_back(std::move(making));
    while (in_flight_ > kInFlightMax) TRY_VOID(finish_first());
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
    return finish_(first);
  }

  const std::function<Result<>(Making&)> finish_;
  std::deque<Making> making_;
  std::uint64_t in_flight_ = 0;
};

}  // namespace

TableCommit::TableCommit(tfile::TableWriter* writer)
    : writer_(writer),
      columns_(writer->committed_form().columns),
      committed_{writer->committed_form(), writer->committed_entries(), {}} {
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
  for (Branch& branch : branches_) {
    if (branch.dropped || branch.form.name != name) continue;
    branch.dropped = true;
    // A column that is put there again is a new one. The counter in front of a counted array has a branch of its own.
    const bool counted = branch.form.kind == tfile::BranchForm::Kind::counted_array;
    for (std::size_t i = counted ? 1 : 0; i < branch.form.columns.size(); ++i)
      columns_[branch.form.columns[i]].path.clear();
  }
  return {};
}

Result<std::int64_t> TableCommit::write(const StagedTable& staged, std::int64_t entries, bool whole,
                                        const BasketSink& sink) {
  TRY_VOID(add_branches(staged));
  std::int64_t begin = entries;
  for (const Branch& branch : branches_) begin = branch.dropped ? begin : std::min(begin, branch.entries);
  const std::vector<BranchColumns> columns = columns_of(staged);
  const bool first = cluster_entries_ == 0;
  if (begin < entries) TRY_VOID(size_clusters(columns, {begin, entries}, sink));
  // Cut while it is still written: there is more than a cluster's bytes, but they compress better than that.
  if (first && !whole) cluster_entries_ = std::min(cluster_entries_, std::max<std::int64_t>(1, entries - begin));
  std::int64_t at = begin;
  for (; at < entries; at = std::min(at + cluster_entries_, entries)) {
    if (!whole && at + cluster_entries_ > entries) break;
    TRY_VOID(write_cluster(columns, {at, std::min(at + cluster_entries_, entries)}, sink));
  }
  TRY_VOID(sink.file.flush());
  return at;
}

Result<> TableCommit::measure(StagedTable& staged, std::int64_t entries, bool whole) const {
  for (StagedColumn& column : staged.columns) column.done = whole ? column.size : column.base;
  if (whole) return {};
  std::unordered_map<const StagedColumn*, std::uint64_t> done;
  for (const BranchColumns& columns : columns_of(staged)) {
    TRY(const std::vector<std::uint64_t> sizes, bytes_of_entries(columns, entries));
    for (std::size_t i = 0; i < sizes.size(); ++i) done[columns.staged[i]] = sizes[i];
  }
  for (StagedColumn& column : staged.columns) {
    if (const auto at = done.find(&column); at != done.end()) column.done = std::max(column.done, at->second);
  }
  return {};
}

Result<> TableCommit::add_branches(const StagedTable& staged) {
  std::unordered_set<std::string_view> known;
  for (const tfile::OfferedColumn& column : columns_) known.insert(column.path);
  std::vector<tfile::OfferedColumn> offered;
  for (const StagedColumn& column : staged.columns) {
    if (known.contains(column.path)) continue;
    TRY(tfile::OfferedColumn made, tfile::offered_column(column.path));
    made.title = column.title;
    made.counter = column.counter;
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

std::vector<BranchColumns> TableCommit::columns_of(const StagedTable& staged) const {
  std::unordered_map<std::string_view, const StagedColumn*> by_path;
  for (const StagedColumn& column : staged.columns) by_path.emplace(column.path, &column);
  std::vector<BranchColumns> all;
  for (const Branch& branch : branches_) {
    BranchColumns& columns = all.emplace_back();
    for (const std::uint32_t i : branch.form.columns) {
      const auto at = by_path.find(columns_[i].path);
      columns.offered.push_back(&columns_[i]);
      columns.staged.push_back(at == by_path.end() ? nullptr : at->second);
    }
  }
  return all;
}

Result<> TableCommit::sample_branches(const std::vector<BranchColumns>& columns, EntryRange entries,
                                      ClusterCache& cache) {
  const double wanted =
      std::clamp(kSampleBytesAll / static_cast<double>(branches_.size()), kSampleBytesMin, kSampleBytesMax);
  BasketsUnderWay samples([&](Making& sample) -> Result<> {
    TRY(const Basket basket, sample.basket.get());
    Branch& branch = branches_[sample.branch];
    branch.raw = static_cast<double>(basket.raw_bytes) / static_cast<double>(basket.entries);
    branch.stored = static_cast<double>(basket.record.size()) / static_cast<double>(basket.entries);
    return {};
  });
  for (std::size_t i = 0; i < branches_.size(); ++i) {
    if (branches_[i].dropped || branches_[i].raw != 0 || branches_[i].entries >= entries.end) continue;
    const EntryRange left{std::max(entries.begin, branches_[i].entries), entries.end};
    TRY(Making sample, start_sample(cache, *writer_, i, columns[i], left, wanted));
    TRY_VOID(samples.add(std::move(sample)));
  }
  return samples.finish();
}

// The first cluster decides how many entries compress to what is asked for; of each branch its share of that is cut
// into baskets, when the branch is first written.
Result<> TableCommit::size_clusters(const std::vector<BranchColumns>& columns, EntryRange entries,
                                    const BasketSink& sink) {
  TRY_VOID(sample_branches(columns, entries, sink.cache));
  double stored = 0;
  for (const Branch& branch : branches_) stored += branch.dropped ? 0 : branch.stored;
  for (Branch& branch : branches_) {
    if (branch.basket_entries == 0 && branch.raw > 0) branch.basket_entries = basket_entries_for(branch.raw);
  }
  if (cluster_entries_ != 0) return {};
  const std::int64_t wanted =
      std::max<std::int64_t>(1, std::llround(static_cast<double>(sink.autoflush) / std::max(stored, 1e-3)));
  // Of whole baskets, where that takes little off it: else each cluster would end with stubs.
  std::int64_t unit = 1;
  for (const Branch& branch : branches_) {
    if (branch.basket_entries <= wanted / 4) unit = std::max(unit, branch.basket_entries);
  }
  cluster_entries_ = wanted - wanted % unit;
  return {};
}

// Baskets lie in the order of their first entries, so that a reader of many branches never goes back.
Result<> TableCommit::write_cluster(const std::vector<BranchColumns>& columns, EntryRange entries,
                                    const BasketSink& sink) {
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
  BasketsUnderWay baskets([&](Making& making) -> Result<> {
    TRY(Basket basket, making.basket.get());
    const std::uint64_t address = sink.places.place(basket);
    writer_->add_basket(making.branch, basket, address);
    TRY_VOID(sink.file.write(address, std::move(basket.record)));
    sink.left -= std::min(sink.left.load(), making.bytes);
    return {};
  });
  for (const Piece& piece : pieces) {
    TRY(ColumnItems items, items_of(columns[piece.branch], piece.entries));
    TRY_VOID(baskets.add(start_basket(sink.cache, *writer_, piece.branch, piece.entries, std::move(items))));
  }
  TRY_VOID(baskets.finish());
  std::vector<std::int32_t> basket_bytes;
  for (Branch& branch : branches_) {
    branch.entries = std::max(branch.entries, entries.end);
    const double bytes = branch.raw * static_cast<double>(std::min(branch.basket_entries, cluster_entries_));
    basket_bytes.push_back(static_cast<std::int32_t>(
        std::clamp(std::ceil(bytes / kBasketBytesMin) * kBasketBytesMin, kBasketBytesMin, kBasketBytesMax)));
  }
  writer_->end_cluster(entries.end, cluster_entries_, basket_bytes);
  return {};
}

}  // namespace tfilefs
