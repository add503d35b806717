// SPDX-License-Identifier: Apache-2.0
#include "tree/read/table_trials.h"

#include <algorithm>
#include <unordered_map>

#include "tree/read/table_memory.h"

namespace tfile {
namespace {

// The search for classes ends after this many entries, which usually show all classes.
constexpr std::int64_t kEntriesSeen = 256;
constexpr std::uint32_t kTrialBasketsMax = 32;

// Enough entries that one is probably not empty, without decoding a whole basket.
constexpr std::int64_t kTrialEntries = 64;

// The number of leading baskets that together have enough entries.
std::uint32_t baskets_with_classes(const BasketTable& baskets) {
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(baskets.seek.size(), kTrialBasketsMax));
  for (std::uint32_t i = 0; i < count; ++i)
    if ((*baskets.entry)[i + 1] - (*baskets.entry)[0] >= kEntriesSeen) return i + 1;
  return count;
}

// Looks at the entries of one branch.
class Trial {
 public:
  Trial(TrialBaskets& baskets, const TreeRecord& tree) : baskets_(baskets), tree_(tree) {}

  FirstEntries first_entries() {
    return {[this](const Stream& stream) { return follow(stream); },
            [this](const Stream& stream) { return classes(stream); }};
  }

 private:
  // Unreadable baskets are not an error here.
  Result<> follow(const Stream& stream) {
    if (baskets_.branch(stream.branch).baskets.seek.empty() || stream.item_counter_branch) return {};
    auto data = baskets_.data(stream.branch, 0);
    if (!data) return {};
    const auto& count = tree_.branches[stream.branch].count;
    if (data->size == 0 && stream.program->entry_is_items && count && counts_items(baskets_, *count, data->entries))
      return fail(ErrorKind::unsupported,
                  "its entries have no bytes, although its lists have items: it was not written");
    // If the program has items of types without a description, all entries are tried, since such an item may come late.
    if (stream.program->unknown.empty() && !stream.program->is_assumed && !data->offsets.empty() &&
        data->entries > kTrialEntries) {
      data->entries = kTrialEntries;
      data->offsets.resize(kTrialEntries + 1);
    }
    return entries_follow_program(stream, *data);
  }

  FoundClasses classes(const Stream& stream) {
    FoundClasses found;
    const std::uint32_t count = baskets_with_classes(baskets_.branch(stream.branch).baskets);
    for (std::uint32_t i = 0; i < count; ++i) {
      auto data = baskets_.data(stream.branch, i);
      if (!data) break;
      for (auto& [place, classes] : classes_of_entries(stream, *data)) found[place].merge(classes);
    }
    return found;
  }

  TrialBaskets& baskets_;
  const TreeRecord& tree_;
};

// Connects a member that another member counts with the stream of that member.
void link_item_counter(Stream& stream, const StreamSlots& streams, std::span<const Column> columns) {
  for (const Column& column : columns) {
    const Stream& counter = streams[column.stream];
    if (counter.branch == *stream.item_counter_branch && counter.kind == Stream::Kind::flat)
      stream.item_counter = Stream::Counter{column.stream, column.slot, column.dtype};
  }
}

}  // namespace

std::string cannot_be_read(const Error& error) { return "its first entries cannot be read: " + error.text; }

bool counts_items(TrialBaskets& baskets, BranchIndex collection, std::int64_t first_entries) {
  if (baskets.branch(collection).baskets.seek.empty()) return false;
  const auto counts = baskets.data(collection, 0);
  if (!counts) return false;
  const auto bytes = counts->bytes();
  const std::size_t size =
      std::min<std::size_t>(bytes.size(), static_cast<std::size_t>(first_entries) * sizeof(std::int32_t));
  return std::any_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size),
                     [](std::byte b) { return b != std::byte{0}; });
}

BranchLayout tried_now(const TreeRecord& tree, BranchIndex index, const StreamerInfos& infos, bool in_list,
                       const SourceOfBranch& source_of) {
  TrialBaskets baskets([&](BranchIndex i) -> const BranchStorage& { return tree.branches[i]; }, source_of);
  Trial trial(baskets, tree);
  for (;;) {
    baskets.begin();
    BranchLayout layout = tried_layout(tree, index, infos, in_list, trial.first_entries());
    if (!baskets.missed()) return layout;
    baskets.read_wanted();
  }
}

TableTrials::TableTrials(TreeRecord tree, std::shared_ptr<const StreamerInfos> infos,
                         std::vector<UnresolvedBranch> unresolved, std::map<BranchIndex, BranchLayout> tried_at_opening,
                         std::span<const BranchStorage> branches, SourceOfBranch source_of, const StreamSlots& streams,
                         std::span<const Column> columns)
    : tree_(std::move(tree)),
      infos_(std::move(infos)),
      unresolved_(std::move(unresolved)),
      tried_at_opening_(std::move(tried_at_opening)),
      branches_(branches),
      source_of_(std::move(source_of)),
      streams_(streams),
      columns_(columns),
      layouts_(unresolved_.size()) {}

const BranchLayout* TableTrials::layout(UnresolvedId id) const {
  const Lock lock(mutex_);
  return layouts_[id].get();
}

// If two threads tried the same branch, the first result stays: both saw the same bytes.
void TableTrials::publish(UnresolvedId id, BranchLayout layout) const {
  const UnresolvedBranch& unresolved = unresolved_[id];
  layout.stream.collection = unresolved.collection;
  if (unresolved.in_list && layout.stream.kind == Stream::Kind::flat) layout.stream.lists_of = unresolved.lists_of;
  if (layout.stream.item_counter_branch) link_item_counter(layout.stream, streams_, columns_);
  auto made = std::make_unique<const BranchLayout>(std::move(layout));
  const Lock lock(mutex_);
  if (layouts_[id]) return;
  layouts_[id] = std::move(made);
  streams_.replace(unresolved.stream, layouts_[id]->stream);
}

std::uint32_t TableTrials::baskets_wanted(UnresolvedId id) const {
  const UnresolvedBranch& unresolved = unresolved_[id];
  const BasketTable& baskets = branches_[unresolved.branch].baskets;
  if (unresolved.asks_for_classes) return baskets_with_classes(baskets);
  return baskets.seek.empty() ? 0 : 1;
}

// Includes the other basket that a trial may need.
std::uint64_t TableTrials::stored_size(UnresolvedId id) const {
  const UnresolvedBranch& unresolved = unresolved_[id];
  std::uint64_t size = 0;
  for (std::uint32_t i = 0; i < baskets_wanted(id); ++i) size += branches_[unresolved.branch].baskets.nbytes[i];
  const auto& count = tree_.branches[unresolved.branch].count;
  if (count && !branches_[*count].baskets.nbytes.empty()) size += branches_[*count].baskets.nbytes[0];
  return size;
}

// As many branches from the front as one plan allows, at least one.
std::vector<UnresolvedId> TableTrials::next_batch(std::vector<UnresolvedId>& left) const {
  std::size_t count = 0;
  for (std::uint64_t bytes = 0; count < left.size(); ++count)
    if ((bytes += stored_size(left[count])) > TrialBaskets::kPlanBytes && count > 0) break;
  const auto end = left.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<UnresolvedId> batch(left.begin(), end);
  left.erase(left.begin(), end);
  return batch;
}

// Returns the failures of the storage. For most branches, one round of reads is enough.
TableTrials::UnreadStreams TableTrials::try_together(std::vector<UnresolvedId> batch) const {
  TrialBaskets baskets([this](BranchIndex index) -> const BranchStorage& { return branches_[index]; }, source_of_);
  for (const UnresolvedId id : batch)
    for (std::uint32_t i = 0; i < baskets_wanted(id); ++i) baskets.want(unresolved_[id].branch, i);
  Trial trial(baskets, tree_);
  const FirstEntries first = trial.first_entries();
  UnreadStreams failed;
  while (!batch.empty()) {
    baskets.read_wanted();
    std::erase_if(batch, [&](UnresolvedId id) {
      baskets.begin();
      BranchLayout layout = tried_layout(tree_, unresolved_[id].branch, *infos_, unresolved_[id].in_list, first);
      if (baskets.missed()) return false;
      if (!baskets.failure())
        publish(id, std::move(layout));
      else
        failed.emplace(unresolved_[id].stream, *baskets.failure());
      return true;
    });
  }
  return failed;
}

Result<> TableTrials::try_branch(UnresolvedId id, std::size_t ahead) const {
  if (layout(id)) return {};
  std::vector<UnresolvedId> wanted{id};
  for (std::size_t step = 1; step < unresolved_.size() && wanted.size() <= ahead; ++step) {
    const auto next = static_cast<UnresolvedId>((id + step) % unresolved_.size());
    if (!layout(next)) wanted.push_back(next);
  }
  const auto failed = try_together(next_batch(wanted));
  if (layout(id)) return {};
  return tl::unexpected<Error>(failed.at(unresolved_[id].stream));
}

Result<TableTrials::UnreadStreams> TableTrials::try_all() const {
  std::vector<UnresolvedId> left;
  for (UnresolvedId id = 0; id < unresolved_.size(); ++id)
    if (!layout(id)) left.push_back(id);
  UnreadStreams unread;
  while (!left.empty()) unread.merge(try_together(next_batch(left)));
  std::erase_if(unread,
                [this](const auto& failed) { return resolved_with(failed.first).has_value(); });  // by another thread
  for (const auto& [stream, error] : unread)
    if (error.kind != ErrorKind::io) return tl::unexpected<Error>(error);
  return unread;
}

BranchNodes TableTrials::nodes_below(UnresolvedId id, const Node& directory) const {
  return make_nodes_below(tree_, *infos_, unresolved_[id], *layout(id), directory, columns_);
}

BranchNodes TableTrials::all_nodes(const UnreadStreams& unread) const {
  std::unordered_map<BranchIndex, UnresolvedId> ids;
  std::unordered_map<BranchIndex, BranchLayout> as_bytes;
  for (const UnresolvedBranch& branch : unresolved_)
    if (const auto failed = unread.find(branch.stream); failed != unread.end())
      as_bytes.emplace(branch.branch, raw_layout(branch.branch, cannot_be_read(failed->second)));
  for (UnresolvedId id = 0; id < unresolved_.size(); ++id) ids.emplace(unresolved_[id].branch, id);
  return make_all_nodes(tree_, *infos_, [&](BranchIndex branch) -> const BranchLayout* {
    if (const auto known = tried_at_opening_.find(branch); known != tried_at_opening_.end()) return &known->second;
    if (const auto bytes = as_bytes.find(branch); bytes != as_bytes.end()) return &bytes->second;
    const auto found = ids.find(branch);
    return found == ids.end() ? nullptr : layout(found->second);
  });
}

std::optional<UnresolvedId> TableTrials::resolved_with(StreamId stream) const {
  const auto found = std::find_if(unresolved_.begin(), unresolved_.end(),
                                  [&](const UnresolvedBranch& one) { return one.stream == stream; });
  const auto id = static_cast<UnresolvedId>(found - unresolved_.begin());
  return found == unresolved_.end() || !layout(id) ? std::nullopt : std::optional(id);
}

std::size_t TableTrials::memory() const {
  std::size_t bytes = sizeof *this + memory_of(tree_);
  const Lock lock(mutex_);
  for (const auto& layout : layouts_)
    if (layout) bytes += sizeof *layout + memory_of(std::span(&layout->stream, 1));
  return bytes;
}

}  // namespace tfile
