// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/loaded_table.h"

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <span>

#include "error_log.h"
#include "exec/for_each.h"
#include "on_behalf.h"
#include "tfile/name.h"
#include "vfs/names/names.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/chosen_entries.h"
#include "vfs/nodes/drawn_object.h"
#include "vfs/nodes/shown_friends.h"
#include "vfs/nodes/table_views.h"
#include "view/defined/defined_streams.h"
#include "view/friends/joined_table.h"

namespace tfilefs {

namespace {

// Roughly the memory that trials read and decode.
constexpr std::uint64_t kTrialMemory = 32 << 20;

// Contents are kept for the program that asks for a size and then opens the file. A listing of all views of a file asks
// for the sizes of up to some hundred thousand, and opens none.
constexpr std::size_t kKeptViews = 1'000;
// The part of the memory limit that they may have beside it, and the most: enough for all views of 10,000 columns.
constexpr std::uint64_t kKeptViewsShare = 16, kKeptViewsMemory = 16 << 20;

// Trials of a thousand branches leave tens of megabytes free in pieces, which would stay beside what comes next.
Result<std::shared_ptr<const tfile::Table>> resolved_whole(const tfile::Table& table) {
  auto whole = table.resolve_all();
  tfile::give_back_free_buffers();
  return whole;
}

// So many tables that are made of another one are known: by entries that are chosen, and columns that are computed.
constexpr std::size_t kKeptOfOthers = 16;

// Keeps the last ones that are made by expressions.
template <class T>
Once<T> known_or_new(std::deque<std::pair<std::string, Once<T>>>& all, const std::string& key,
                     std::deque<std::pair<std::string, Once<T>>>& dropped) {
  const auto known = std::ranges::find(all, key, [](const auto& each) { return each.first; });
  if (known != all.end()) return known->second;
  all.emplace_back(key, Once<T>());
  if (all.size() > kKeptOfOthers) {
    dropped.push_back(std::move(all.front()));
    all.pop_front();
  }
  return all.back().second;
}

}  // namespace

using tfile::Column;
using tfile::ColumnId;
using tfile::NodeId;

Reply<std::shared_ptr<Content>> size_of(Reply<std::uint64_t> reply) {
  auto next = [](std::shared_ptr<Content> content, Reply<std::uint64_t> done) mutable { done(content->size()); };
  return value_for<std::shared_ptr<Content>>(std::move(reply), std::move(next));
}

// The views whose content is kept: the last kKeptViews that were made, or fewer if they are large.
class LoadedTable::KeptViews {
 public:
  explicit KeptViews(std::uint64_t memory_limit)
      : memory_max_(std::min(kKeptViewsMemory, memory_limit / kKeptViewsShare)) {}
  void add(std::weak_ptr<const LoadedTable> table, ViewKey key, std::uint64_t memory) {
    for (const Made& oldest : take_oldest({std::move(table), key, memory}))
      if (const LoadedPtr of = oldest.table.lock()) of->drop_view(oldest.key);
  }

 private:
  struct Made {
    std::weak_ptr<const LoadedTable> table;
    ViewKey key;
    std::uint64_t memory;
  };
  // Those that make room for a further one.
  std::vector<Made> take_oldest(Made added) {
    std::vector<Made> oldest;
    const Lock lock(mutex_);
    memory_ += added.memory;
    made_.push_back(std::move(added));
    while (made_.size() > 1 && (made_.size() > kKeptViews || memory_ > memory_max_)) {
      memory_ -= made_.front().memory;
      oldest.push_back(std::move(made_.front()));
      made_.pop_front();
    }
    return oldest;
  }

  const std::uint64_t memory_max_;
  Mutex mutex_{"KeptViews::mutex_"};
  std::deque<Made> made_ GUARDED_BY(mutex_);
  std::uint64_t memory_ GUARDED_BY(mutex_) = 0;
};

LoadedTable::LoadedTable(std::shared_ptr<const tfile::Table> table, ClusterCache& cache, TableLabel label,
                         tfile::ServerId origin, TableRanges ranges)
    : LoadedTable(table, cache, cache.attach(table, label), label.path, origin, {}, {}, std::move(ranges)) {}

LoadedTable::LoadedTable(std::shared_ptr<const tfile::Table> table, ClusterCache& cache,
                         std::shared_ptr<CachedStreams> streams, std::string path, tfile::ServerId origin,
                         std::shared_ptr<KeptViews> kept_views, std::vector<std::string> chosen_by, TableRanges ranges)
    : cache_(cache),
      table_(std::move(table)),
      streams_(std::move(streams)),
      path_(std::move(path)),
      origin_(origin),
      chosen_by_(std::move(chosen_by)),
      ranges_(std::move(ranges)),
      by_stream_(table_->columns.size()),
      kept_views_(kept_views ? std::move(kept_views) : std::make_shared<KeptViews>(cache.budget()->size())) {
  std::iota(by_stream_.begin(), by_stream_.end(), ColumnId{0});
  std::ranges::stable_sort(by_stream_, {}, [this](ColumnId id) { return table_->columns[id].stream; });
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
  const auto stream_of = [this](ColumnId c) { return table_->columns[c].stream; };
  const std::span columns(std::ranges::lower_bound(by_stream_, stream, {}, stream_of),
                          std::ranges::upper_bound(by_stream_, stream, {}, stream_of));
  const std::size_t count = columns.size();
  if (count == 1) return stored;
  double all = 0, own = 0;
  for (const ColumnId c : columns) {
    const auto length = known_length(c);
    if (!length) return stored / count;
    const double size = static_cast<double>(*length) * static_cast<double>(table_->columns[c].item_size());
    all += size;
    if (c == id) own = size;
  }
  return all > 0 ? static_cast<std::uint64_t>(static_cast<double>(stored) * (own / all)) : stored / count;
}

std::uint64_t LoadedTable::stored_below(NodeId id) const {
  const tfile::Node& node = table_->nodes[id];
  std::uint64_t stored = node.column ? stored_bytes(*node.column) : 0;
  for (const NodeId child : node.children) stored += stored_below(child);
  return stored;
}

// Reads the first entries of branches, on a thread that may block.
template <class Resolve>
void LoadedTable::look(Resolve resolve, Reply<LoadedPtr> reply) const {
  auto job = [resolve = std::move(resolve), table = table_, streams = streams_, path = path_, origin = origin_,
              kept = kept_views_, ranges = ranges_, &cache = cache_]() -> Result<LoadedPtr> {
    TRY(auto found, resolve(*table));
    return std::make_shared<LoadedTable>(std::move(found), cache, streams, path, origin, kept,
                                         std::vector<std::string>(), ranges);
  };
  const std::uint64_t memory = std::min(kTrialMemory, cache_.budget()->size() / 4);
  answer_blocking_within(cache_, origin_, memory, std::move(job), std::move(reply));
}

// A program that looks into one branch after the other wants them all: each look tries twice as many as the one before.
// Once the whole table is there, the branches need no tables of their own, which together are larger.
void LoadedTable::resolve_branch(NodeId node, Reply<Settled> reply) const {
  if (const LoadedPtr all = known_whole()) return reply(Settled{all, same_node(all->table(), node)});
  Once<LoadedPtr> once;
  {
    const Lock lock(mutex_);
    once = resolved_[node];
  }
  once.get(
      [&](Reply<LoadedPtr> made) {
        const std::size_t ahead = ahead_.load();
        ahead_ = std::min(2 * ahead + 1, kAllBranches);
        look([node, ahead](const tfile::Table& table) { return table.resolve_branch(node, ahead); }, std::move(made));
      },
      value_for<LoadedPtr>(std::move(reply), [](LoadedPtr below, Reply<Settled> done) mutable {
        done(Settled{std::move(below), 1});  // its node 1 is the directory of the branch
      }));
}

// Content of a whole table that may lack parts: its bytes must not be mixed with those of a later making.
class LoadedTable::UnreadContent final : public Content {
 public:
  UnreadContent(std::shared_ptr<Content> content, std::shared_ptr<const Making> making)
      : content_(std::move(content)), making_(std::move(making)) {}
  std::uint64_t size() const override { return content_->size(); }
  std::uint64_t build_id() const override { return making_->number + content_->build_id(); }
  std::uint64_t memory() const override { return content_->memory(); }
  void read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) override {
    if (making_->is_over) return reply(tfile::fail(ErrorKind::stale, "the table has grown since it was opened"));
    content_->read(offset, size, std::move(reply));
  }

 private:
  const std::shared_ptr<Content> content_;
  const std::shared_ptr<const Making> making_;
};

// The earlier table if the storage shows no more than before, so that contents made from it stay valid.
LoadedTable::LoadedPtr LoadedTable::keep(LoadedPtr whole) const {
  const Lock lock(mutex_);
  const LoadedPtr before = unread_whole_;
  const auto& columns = whole->table_->columns;
  const auto is_as_before = [&](tfile::ColumnId id) {
    return columns[id].reason == before->table_->columns[id].reason;
  };
  const bool is_same = before && before->table_->unread == whole->table_->unread &&
                       std::ranges::all_of(whole->table_->unread, is_as_before);
  if (is_same) whole = before;
  if (before && !is_same) before->making_->is_over = true;
  const bool is_all = whole->table_->unread.empty();
  unread_whole_ = is_all ? nullptr : whole;
  if (is_all) return whole;
  if (!is_same) whole->making_ = std::make_shared<Making>(++wholes_);
  whole_ = {};  // the next call reads the storage again
  return whole;
}

void LoadedTable::whole(Reply<LoadedPtr> reply) const {
  Once<LoadedPtr> once;
  {
    const Lock lock(mutex_);
    once = whole_;
  }
  once.get(
      [&](Reply<LoadedPtr> made) {
        auto keep = [self = shared_from_this()](LoadedPtr found) { return self->keep(std::move(found)); };
        look(&resolved_whole, answer_with<LoadedPtr>(std::move(made), std::move(keep)));
      },
      std::move(reply));
}

bool LoadedTable::release_idle() const {
  decltype(resolved_) known;
  {
    const Lock lock(mutex_);
    known = resolved_;
  }
  const LoadedPtr all = known_whole();
  bool is_idle = all.use_count() <= kOwnReferences;
  for (const auto& [node, once] : known) {
    const auto below = once.peek();
    if (below && below->use_count() > kOwnReferences) is_idle = false;
    if (!below || below->use_count() > kOwnReferences) continue;
    const Lock lock(mutex_);
    resolved_.erase(node);
  }
  return is_idle;
}

std::vector<std::pair<std::string, std::string>> LoadedTable::unread() const {
  const Lock lock(mutex_);
  std::vector<std::pair<std::string, std::string>> found;
  if (!unread_whole_) return found;
  for (const ColumnId id : unread_whole_->table_->unread) {
    const Column& column = unread_whole_->table_->columns[id];
    found.emplace_back(column.path, column.reason);
  }
  return found;
}

bool LoadedTable::is_settled(NodeId id) const {
  const tfile::Node& node = table_->nodes[id];
  if (table_->is_unresolved(id)) return false;
  if (node.column && std::ranges::binary_search(table_->may_be_unwritten, *node.column)) return false;
  return std::all_of(node.children.begin(), node.children.end(), [this](NodeId child) { return is_settled(child); });
}

NodeId LoadedTable::same_node(const tfile::Table& whole, NodeId node) const {
  if (node == 0) return 0;
  std::call_once(branches_once_, [this] { index_branches(); });
  const Above& above = above_[node];
  return whole.nodes[same_node(whole, above.parent)].children[above.place];
}

// If nothing of it is unread.
LoadedTable::LoadedPtr LoadedTable::known_whole() const {
  Once<LoadedPtr> once;
  {
    const Lock lock(mutex_);
    once = whole_;
  }
  return once.peek().value_or(nullptr);
}

std::optional<LoadedTable::Settled> LoadedTable::known_settled(NodeId node) const {
  if (table_->is_resolved() || is_settled(node)) return Settled{shared_from_this(), node};
  if (const LoadedPtr all = known_whole()) return Settled{all, same_node(all->table(), node)};
  Once<LoadedPtr> once;
  {
    const Lock lock(mutex_);
    const auto found = resolved_.find(node);
    if (found == resolved_.end()) return std::nullopt;
    once = found->second;
  }
  const auto below = once.peek();
  return below ? std::optional(Settled{*below, 1}) : std::nullopt;
}

void LoadedTable::settled(NodeId node, Reply<Settled> reply) const {
  if (auto known = known_settled(node)) return reply(*std::move(known));
  if (table_->is_unresolved(node)) return resolve_branch(node, std::move(reply));
  auto next = [self = shared_from_this(), node](LoadedPtr all, Reply<Settled> done) mutable {
    done(Settled{all, self->same_node(all->table(), node)});
  };
  whole(value_for<LoadedPtr>(std::move(reply), std::move(next)));
}

void LoadedTable::view(NodeId node, ViewKind shown_as, StringsAs strings, Reply<std::shared_ptr<Content>> reply) const {
  auto make = [shown_as, strings](Settled of, Reply<std::shared_ptr<Content>> done) mutable {
    of.loaded->own_view({of.node, shown_as}, strings, std::move(done));
  };
  settled(node, value_for<Settled>(std::move(reply), std::move(make)));
}

void LoadedTable::view_size(NodeId node, ViewKind shown_as, StringsAs strings, Reply<std::uint64_t> reply) const {
  auto tell = [shown_as, strings](Settled of, Reply<std::uint64_t> done) mutable {
    if (const auto known = of.loaded->noted_size({of.node, shown_as})) return done(*known);
    of.loaded->own_view({of.node, shown_as}, strings, size_of(std::move(done)));
  };
  settled(node, value_for<Settled>(std::move(reply), std::move(tell)));
}

// As long as something of the table is unread, a size may be another one the next time.
std::optional<std::uint64_t> LoadedTable::known_view_size(NodeId node, ViewKind shown_as) const {
  const auto of = known_settled(node);
  return of && !of->loaded->making_ ? of->loaded->noted_size({of->node, shown_as}) : std::nullopt;
}

std::optional<std::uint64_t> LoadedTable::noted_size(ViewKey key) const {
  const Lock lock(mutex_);
  const auto found = view_sizes_.find(packed(key));
  return found == view_sizes_.end() ? std::nullopt : std::optional(found->second);
}

void LoadedTable::own_view(ViewKey key, StringsAs strings, Reply<std::shared_ptr<Content>> reply) const {
  Once<std::shared_ptr<Content>> once;
  {
    const Lock lock(mutex_);
    once = views_[key];
  }
  once.get(
      [&](Reply<std::shared_ptr<Content>> made) {
        auto note = [self = shared_from_this(), key](std::shared_ptr<Content> content) -> std::shared_ptr<Content> {
          self->note_made(key, *content);
          if (!self->making_) return content;
          return std::make_shared<UnreadContent>(std::move(content), self->making_);
        };
        const ViewedNode viewed{cache_, *this, streams_, table_, key.first, strings};
        table_view(key.second).make(viewed, answer_with<std::shared_ptr<Content>>(std::move(made), std::move(note)));
      },
      std::move(reply));
}

void LoadedTable::lengths_in_texts(Reply<LengthsPtr> reply) const {
  auto ask = [this](Reply<LengthsPtr> made) {
    auto keep = [](ColumnLengths lengths) -> LengthsPtr {
      return std::make_shared<const ColumnLengths>(std::move(lengths));
    };
    column_lengths(streams_, table_, false, answer_with<ColumnLengths>(std::move(made), std::move(keep)));
  };
  lengths_in_texts_.get(ask, std::move(reply));
}

void LoadedTable::summary(ColumnId id, Reply<SummaryPtr> reply) const {
  Once<SummaryPtr> once;
  {
    const Lock lock(mutex_);
    once = summaries_[id];
  }
  once.get([&](Reply<SummaryPtr> made) { summarize_column(streams_, table_, id, ranges_, std::move(made)); },
           std::move(reply));
}

template <class T, class Next>
void LoadedTable::with_named(const FriendsPtr& friends, FriendNamingTexts texts, Reply<T> reply, Next next) const {
  auto join = [friends, texts = std::move(texts), next = std::move(next)](const Settled& whole, Reply<T> answer) {
    auto go_on = [of = whole.loaded, next](const LoadedPtr& table, Reply<T> done) {
      next(*table, of, std::move(done));
    };
    whole.loaded->beside_friends(friends, texts, value_for<LoadedPtr>(std::move(answer), std::move(go_on)));
  };
  settled(0, value_for<Settled>(std::move(reply), std::move(join)));
}

void LoadedTable::chosen(const std::string& expression, const FriendsPtr& friends, ErrorLog& errors,
                         Reply<LoadedPtr> reply) const {
  auto choose = [expression, &errors](const LoadedTable& table, const LoadedPtr& of, Reply<LoadedPtr> done) {
    table.own_chosen(expression, of, errors, std::move(done));
  };
  with_named(friends, {{expression}, {}}, std::move(reply), std::move(choose));
}

Once<LoadedTable::LoadedPtr> LoadedTable::once_made(const std::string& key) const {
  ByText<LoadedPtr> dropped;  // destroyed without the lock
  const Lock lock(mutex_);
  return known_or_new(made_, key, dropped);
}

Once<Query> LoadedTable::once_bound(const std::string& key) const {
  ByText<Query> dropped;
  const Lock lock(mutex_);
  return known_or_new(bound_, key, dropped);
}

template <class T, class Job>
void LoadedTable::answer_binding(Job job, Reply<T> reply) const {
  cache_.exec().serial_queues.run(this, answering(std::move(job), std::move(reply)));
}

void LoadedTable::bound(const std::string& key, Bind bind, Reply<Query> reply) const {
  auto start = [&](Reply<Query> made) {
    auto job = [self = shared_from_this(), bind = std::move(bind), stop = made.stop_token()]() -> Result<Query> {
      auto query =
          bind({TableNames(*self->table_, self->friends_beside_), {}, self->streams_->files() == nullptr, stop});
      if (!query) return tl::unexpected<Error>(on_one_line(std::move(query).error()));
      return query;
    };
    answer_binding(std::move(job), std::move(made));
  };
  once_bound(key).get(start, std::move(reply));
}

void LoadedTable::cut(const std::string& expression, const FriendsPtr& friends, Reply<Query> reply) const {
  auto bind_it = [expression](const LoadedTable& table, const LoadedPtr&, Reply<Query> done) {
    table.own_cut(expression, std::move(done));
  };
  with_named(friends, {{expression}, {}}, std::move(reply), std::move(bind_it));
}

namespace {

// For a text that is no drawing none: binding it says why.
FriendNamingTexts texts_of_text(const std::string& text) {
  const auto request = drawing_in_memory(text);
  return request ? texts_of_drawing(*request) : FriendNamingTexts();
}

}  // namespace

void LoadedTable::drawing(const std::string& text, const FriendsPtr& friends, Reply<Query> reply) const {
  auto bind_it = [text](const LoadedTable& table, const LoadedPtr&, Reply<Query> done) {
    table.own_drawing(text, std::move(done));
  };
  with_named(friends, texts_of_text(text), std::move(reply), std::move(bind_it));
}

void LoadedTable::own_cut(const std::string& expression, Reply<Query> reply) const {
  auto bind = [expression](const QueryScope& scope) { return Query::bind_cut(expression, scope); };
  bound(std::string(kWhereName) + expression, std::move(bind), std::move(reply));
}

void LoadedTable::own_drawing(const std::string& text, Reply<Query> reply) const {
  auto bind = [text](const QueryScope& scope) -> Result<Query> {
    TRY(const DrawRequest request, drawing_in_memory(text));
    return bind_drawing(request, scope);
  };
  bound(std::string(kDrawName) + text, std::move(bind), std::move(reply));
}

Once<GenerationPtr> LoadedTable::once_drawn(const std::string& text) const {
  ByText<GenerationPtr> dropped;
  const Lock lock(mutex_);
  return known_or_new(drawn_, text, dropped);
}

void LoadedTable::drawn(MountContext& context, const std::string& text, const Provenance& from,
                        const FriendsPtr& friends, Reply<GenerationPtr> reply) const {
  auto draw = [&context, text, from](const LoadedTable& table, const LoadedPtr&, Reply<GenerationPtr> done) {
    auto start = [&](Reply<GenerationPtr> made) {
      auto draw_bound = [&context, of = table.shared_from_this(), text, from](const Query& query,
                                                                              Reply<GenerationPtr> drawn) {
        draw_object(context, {of->table_, of->streams_, of->path_, from}, text, query, std::move(drawn));
      };
      table.own_drawing(text, value_for<Query>(std::move(made), std::move(draw_bound)));
    };
    table.once_drawn(text).get(start, std::move(done));
  };
  with_named(friends, texts_of_text(text), std::move(reply), std::move(draw));
}

void LoadedTable::own_chosen(const std::string& expression, const LoadedPtr& of, ErrorLog& errors,
                             Reply<LoadedPtr> reply) const {
  auto start = [&](Reply<LoadedPtr> made) {
    std::vector<std::string> chosen_by = chosen_by_;
    chosen_by.push_back(expression);
    auto show = [&cache = cache_, &errors,
                 path = path_ + "/" + std::string(kWhereName) + tfile::escape_name(expression), origin = origin_,
                 uses_friends = uses_friends_, chosen_by = std::move(chosen_by),
                 kept = kept_](TableWhere found) mutable -> LoadedPtr {
      kept.push_back(std::move(found.kept));
      for (const auto& [node, found_there] : found.table->left_out())
        errors.add(path + "/" + node, "left out, for no entries can be chosen of it: " + found_there);
      auto shown = std::make_shared<LoadedTable>(std::move(found.table), cache, std::move(found.streams), path, origin,
                                                 nullptr, chosen_by);
      shown->uses_friends_ = uses_friends;
      shown->kept_ = std::move(kept);
      return shown;
    };
    auto choose = [self = shared_from_this(), own = of->table_, streams = of->streams_](const Query& bound_cut,
                                                                                        Reply<TableWhere> done) {
      choose_entries(self->cache_, {own, streams}, {self->table_, self->streams_, bound_cut}, std::move(done));
    };
    own_cut(expression, value_for<Query>(answer_with<TableWhere>(std::move(made), std::move(show)), std::move(choose)));
  };
  once_made(std::string(kWhereName) + expression).get(start, std::move(reply));
}

Result<LoadedTable::LoadedPtr> LoadedTable::computed(const NamedExpressions& wanted, const LeaveOut& leave_out,
                                                     const std::stop_token& stop) const {
  auto table =
      std::make_shared<const DefinedTable>(table_, wanted, streams_->files() == nullptr, stop, friends_beside_);
  if (stop.stop_requested()) return cancelled();
  for (const auto& [name, reason] : table->left_out()) leave_out(name, reason);
  auto streams = std::make_shared<DefinedStreams>(cache_, table, streams_);
  auto made = std::make_shared<LoadedTable>(std::move(table), cache_, std::move(streams), path_, origin_);
  made->uses_friends_ = uses_friends_;
  return made;
}

Result<LoadedTable::LoadedPtr> LoadedTable::with_defined(const LoadedTable& of, const NamedExpressions& wanted,
                                                         const LeaveOut& leave_out, const std::stop_token& stop) const {
  TRY(const LoadedPtr alone, computed(wanted, leave_out, stop));
  auto joined = std::make_shared<const JoinedTable>(
      std::vector<JoinedTable::Part>{{"", of.table_, of.streams_}, {"", alone->table_, alone->streams_, true}});
  auto made =
      std::make_shared<LoadedTable>(joined, cache_, joined_streams(joined), path_, origin_, nullptr, chosen_by_);
  made->uses_friends_ = uses_friends_;
  made->kept_ = kept_;
  return made;
}

void LoadedTable::defined(const NamedExpressions& wanted, const FriendsPtr& friends, LeaveOut leave_out,
                          Reply<LoadedPtr> reply) const {
  if (wanted.empty()) return reply(shared_from_this());
  auto define = [wanted, leave_out = std::move(leave_out)](const LoadedTable& table, const LoadedPtr& of,
                                                           Reply<LoadedPtr> done) {
    std::string key;
    for (const auto& [name, expression] : wanted) key += name + "=" + expression + "\n";
    auto start = [&](Reply<LoadedPtr> made) {
      auto job = [self = table.shared_from_this(), of, wanted, leave_out, stop = made.stop_token()] {
        return self->with_defined(*of, wanted, leave_out, stop);
      };
      table.answer_binding(std::move(job), std::move(made));
    };
    table.once_made(key).get(start, std::move(done));
  };
  FriendNamingTexts texts;
  for (const auto& [name, expression] : wanted) texts.expressions.push_back(expression);
  texts.definitions = wanted;
  with_named(friends, std::move(texts), std::move(reply), std::move(define));
}

void LoadedTable::own_aliased(const tfile::TableAlias& alias, LeaveOut leave_out, Reply<LoadedPtr> reply) const {
  Once<LoadedPtr> once;
  {
    const Lock lock(mutex_);
    once = aliased_[alias.name];
  }
  auto start = [&](Reply<LoadedPtr> made) {
    auto job = [self = shared_from_this(), alias, leave_out, stop = made.stop_token()] {
      return self->computed({{alias.name, alias.expression}}, leave_out, stop);
    };
    answer_binding(std::move(job), std::move(made));
  };
  once.get(start, std::move(reply));
}

void LoadedTable::aliased(const tfile::TableAlias& alias, const FriendsPtr& friends, LeaveOut leave_out,
                          Reply<LoadedPtr> reply) const {
  auto define = [alias, leave_out = std::move(leave_out)](const LoadedTable& table, const LoadedPtr&,
                                                          Reply<LoadedPtr> done) {
    table.own_aliased(alias, leave_out, std::move(done));
  };
  with_named(friends, {{alias.expression}, {}}, std::move(reply), std::move(define));
}

// ---- friends

// Friends that are opened for a table.
struct LoadedTable::Joining {
  std::vector<JoinedTable::Part> parts;
  std::vector<bool> is_matched;  // by part
  std::string key;               // of their states
  FriendsBeside beside;
};

void LoadedTable::beside_friends(const FriendsPtr& friends, const FriendNamingTexts& texts,
                                 Reply<LoadedPtr> reply) const {
  if (!friends) return reply(shared_from_this());
  auto find = [self = shared_from_this(), friends, texts]() -> Result<std::vector<std::string>> {
    return friends_named(texts, *self->table_, friends->aliases());
  };
  auto join = [self = shared_from_this(), friends](std::vector<std::string> named, Reply<LoadedPtr> done) {
    self->beside_named(friends, std::move(named), std::move(done));
  };
  answer_binding(std::move(find), value_for<std::vector<std::string>>(std::move(reply), std::move(join)));
}

void LoadedTable::beside_named(const FriendsPtr& friends, std::vector<std::string> named,
                               Reply<LoadedPtr> reply) const {
  if (named.empty()) return reply(shared_from_this());
  const std::size_t count = named.size();
  auto open = [friends, named = std::move(named)](std::size_t i, Joining& joining, Reply<void> done) {
    auto add = [&joining, &alias = named[i]](Result<ShownFriends::Joined> joined, Reply<void> added) {
      if (!joined && is_cancelled(joined.error())) return added(tl::unexpected<Error>(std::move(joined).error()));
      joining.key +=
          "friend " + alias + (joined ? "=" + std::to_string(joined->state) : ": " + joined.error().text) + "\n";
      if (joined) {
        joining.parts.push_back({alias, std::move(joined->table), std::move(joined->streams), false, true});
        joining.is_matched.push_back(joined->is_matched);
      } else {
        joining.beside.lost.emplace_back(alias, std::move(joined).error().text);
      }
      added({});
    };
    friends->joined(named[i], on_behalf_of<ShownFriends::Joined>(std::move(done), std::move(add)));
  };
  auto join = [self = shared_from_this()](Joining joining, Reply<LoadedPtr> done) {
    self->join_friends(std::move(joining), std::move(done));
  };
  for_each(count, Joining{{{"", table_, streams_}}, {false}, {}, {}}, std::move(open),
           value_for<Joining>(std::move(reply), std::move(join)));
}

void LoadedTable::join_friends(Joining joining, Reply<LoadedPtr> reply) const {
  const std::string key = joining.key;
  auto start = [&](Reply<LoadedPtr> made) {
    auto job = [self = shared_from_this(), joining = std::move(joining)] { return self->with_friends(joining); };
    answer_binding(std::move(job), std::move(made));
  };
  once_made(key).get(start, std::move(reply));
}

// Friends have an entry for each of those that entries were chosen of.
Result<LoadedTable::LoadedPtr> LoadedTable::with_friends(const Joining& joining) const {
  std::vector<JoinedTable::Part> parts = joining.parts;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    for (const std::shared_ptr<const KeptBits>& kept : kept_) {
      TableWhere chosen = entries_kept(cache_, {parts[i].table, parts[i].streams}, kept);
      parts[i].table = std::move(chosen.table);
      parts[i].streams = std::move(chosen.streams);
    }
  }
  auto joined = std::make_shared<const JoinedTable>(std::move(parts));
  auto made =
      std::make_shared<LoadedTable>(joined, cache_, joined_streams(joined), path_, origin_, nullptr, chosen_by_);
  made->uses_friends_ = true;
  made->kept_ = kept_;
  made->friends_beside_ = joining.beside;
  for (std::size_t i = 1; i < joining.parts.size(); ++i) {
    made->friends_beside_.records.push_back(joined->records()[i]);
    if (joining.is_matched[i]) made->friends_beside_.matched.push_back(joined->records()[i]);
  }
  return made;
}

void LoadedTable::note_made(ViewKey key, const Content& content) const {
  {
    const Lock lock(mutex_);
    view_sizes_.insert_or_assign(packed(key), content.size());
  }
  kept_views_->add(weak_from_this(), key, content.memory());
}

void LoadedTable::drop_view(ViewKey key) const {
  decltype(views_)::node_type dropped;  // perhaps with much of a file: destroyed without the lock
  const Lock lock(mutex_);
  dropped = views_.extract(key);
}

void LoadedTable::index_branches() const {
  const auto& nodes = table_->nodes;
  above_.assign(nodes.size(), {});
  for (NodeId node = 0; node < nodes.size(); ++node) {
    if (node != 0 && !nodes[node].branch_name.empty()) by_branch_.push_back(node);
    const auto& children = nodes[node].children;
    for (std::uint32_t place = 0; place < children.size(); ++place) above_[children[place]] = {node, place};
  }
  std::sort(by_branch_.begin(), by_branch_.end(),
            [&](NodeId a, NodeId b) { return std::tie(nodes[a].branch_name, a) < std::tie(nodes[b].branch_name, b); });
}

bool LoadedTable::is_below(NodeId node, NodeId above) const {
  while (node != above && node != 0) node = above_[node].parent;
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
