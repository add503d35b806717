// SPDX-License-Identifier: Apache-2.0
#include "vfs/friends/table_friends.h"

#include <algorithm>
#include <utility>

#include "exec/for_each.h"
#include "on_behalf.h"
#include "path_name.h"
#include "tfile/name.h"
#include "vfs/friends/chain_friends.h"
#include "vfs/friends/chain_states.h"
#include "vfs/friends/friend_keys.h"
#include "vfs/friends/friend_place.h"
#include "vfs/names/names.h"
#include "vfs/nodes/blocking.h"
#include "view/friends/friend_matching.h"
#include "view/friends/friend_streams.h"
#include "view/friends/friend_table.h"

namespace tfilefs {
namespace {

using States = std::vector<ChainStatePtr>;

// More entries than any friend has, so that sums of chains do not overflow.
constexpr std::int64_t kFriendEntriesMax = std::int64_t{1} << 60;

// The table of a chain that is the friend of the one at `path`, or that lies before it: the only one that has columns,
// or the one of that name.
const ChainedTable* table_beside(const ChainState& state, const std::string& path) {
  const ChainedTable* only = nullptr;
  std::size_t count = 0;
  for (const ChainedTable& table : state.tables) {
    if (!table.chained->columns.empty()) only = count++ == 0 ? &table : nullptr;
  }
  if (count <= 1) return only;
  const auto same = std::ranges::find_if(
      state.tables, [&](const ChainedTable& table) { return name_in_path(table.path) == name_in_path(path); });
  return same != state.tables.end() ? &*same : nullptr;
}

}  // namespace

// Makes a friend's table from one state of its files.
class TableFriend::Making : public std::enable_shared_from_this<Making> {
 public:
  // `states`: of the friend's own chain, and of those before it.
  Making(std::shared_ptr<const TableFriend> of, const States& states);
  void run(Reply<TableStatePtr> reply);

 private:
  const LoadedTable& own() const { return *table_->shown->loaded; }
  const LoadedTable& of() const { return *friend_->of_; }
  ClusterCache& cache() const { return friend_->context_.cache; }

  // All of the friend's entries belong to the table's, or those of each file to the entries of one file.
  std::vector<EntryPart> parts() const;

  // ---- by position

  TableStatePtr by_position() const;

  // ---- by key

  void match_by_columns(const FriendKey& key, Reply<TableStatePtr> reply);

  // By the indices that are stored in the files.
  void match_by_indices(Reply<TableStatePtr> reply);
  bool has_stored_index(std::size_t file) const;

  // An index is in the record of its tree, which is read once more for it.
  void read_index(std::size_t file, Reply<void> reply);
  void read_index_of(std::size_t file, const GenerationPtr& generation, const TablePlace& place, Reply<void> reply);
  Result<void> add_index(std::size_t file, const tfile::EntryIndex& stored);

  // As in ROOT: an index by what the table does not have is none.
  void match_by_stored(Reply<TableStatePtr> reply);
  void look_up(const KeySources& wanted, CountedIndexPtr index, Reply<TableStatePtr> reply);

  // Any entry may have one of the friend, or none.
  TableStatePtr with_or_without(MatchedRunsPtr matched) const;
  TableStatePtr state(const std::shared_ptr<const FriendTable>& shown, std::shared_ptr<CachedStreams> streams,
                      std::shared_ptr<const LoadedTable> hidden) const;

  const std::shared_ptr<const TableFriend> friend_;
  const ChainStatePtr state_;
  const ChainedTable* const table_;  // of state_; null: there is none
  std::int64_t first_ = 0;           // the friend's entry that belongs to the table's first one

  // The stored indices of the files, as far as they were read.
  std::shared_ptr<CountedIndex> index_ = std::make_shared<CountedIndex>();
  std::optional<FriendKey> stored_key_;
  std::int64_t stored_entries_ = 0;
  bool is_outdated_ = false;  // the only one
};

TableFriend::Making::Making(std::shared_ptr<const TableFriend> of, const States& states)
    : friend_(std::move(of)), state_(states.front()), table_(table_beside(*state_, friend_->of_->path())) {
  for (std::size_t i = 1; i < states.size(); ++i) {
    const ChainedTable* before = table_beside(*states[i], friend_->of_->path());
    if (before) first_ = std::min(kFriendEntriesMax, first_ + before->chained->entries);
  }
}

void TableFriend::Making::run(Reply<TableStatePtr> reply) {
  if (!table_) {
    const bool has_none =
        std::ranges::all_of(state_->tables, [](const ChainedTable& table) { return table.chained->columns.empty(); });
    return reply(tfile::fail(ErrorKind::unsupported,
                             has_none ? "no table, or an empty one" : "several tables: name one, as FILE:TABLE"));
  }
  if (friend_->source_.key) return match_by_columns(*friend_->source_.key, std::move(reply));
  const std::vector<std::int64_t>& first_entries = friend_->source_.first_entries;
  for (std::size_t i = 0; i < first_entries.size(); ++i) {
    if (table_->paths[i].empty())
      return reply(tfile::fail(ErrorKind::unsupported, state_->members[i].name + ": no table " +
                                                           state_->members[i].table + ", or an empty one"));
  }
  for (const EntryPart& part : parts()) index_->parts.push_back({part, std::nullopt});
  // The index of one file tells of all entries that belong to it, and only of these.
  const bool is_of_one_file = state_->members.size() == 1 && friend_->source_.before.empty();
  if (is_of_one_file || !first_entries.empty()) return match_by_indices(std::move(reply));
  reply(by_position());
}

std::vector<EntryPart> TableFriend::Making::parts() const {
  const std::vector<std::int64_t>& of = friend_->source_.first_entries;
  if (of.empty()) return {{0, first_, own().table().entries - first_}};
  const std::vector<std::int64_t>& own = table_->chained->first_entries();
  std::vector<EntryPart> parts;
  for (std::size_t i = 0; i < of.size(); ++i) parts.push_back({of[i], own[i], own[i + 1] - own[i]});
  return parts;
}

TableStatePtr TableFriend::Making::by_position() const {
  auto matched = std::make_shared<MatchedRuns>();
  matched->runs = EntryRuns::by_position(std::max<std::int64_t>(0, of().table().entries), parts());
  const EntryRuns& runs = matched->runs;
  if (runs.has_gap()) return with_or_without(std::move(matched));
  const bool begins_as_own = runs.runs().empty() || (runs.runs().size() == 1 && runs.friend_entry(0) == 0);
  const bool is_same = begins_as_own && runs.matched() == own().table().entries;
  auto shown =
      std::make_shared<const FriendTable>(table_->chained, of().table(), is_same ? FriendRows::same : FriendRows::some);
  if (is_same) return state(shown, table_->streams, nullptr);
  return state(shown, std::make_shared<FriendStreams>(cache(), shown, entries_of(std::move(matched)), table_->streams),
               nullptr);
}

void TableFriend::Making::match_by_columns(const FriendKey& key, Reply<TableStatePtr> reply) {
  auto sources = key_sources(own(), key);
  auto wanted = key_sources(of(), key);
  if (!sources || !wanted) {
    Error error = !sources ? sources.error() : wanted.error();
    error.kind = ErrorKind::unsupported;
    return reply(tl::unexpected<Error>(std::move(error)));
  }
  auto look_up = [self = shared_from_this(), wanted = *std::move(wanted)](CountedIndexPtr index,
                                                                          Reply<TableStatePtr> done) {
    self->look_up(wanted, std::move(index), std::move(done));
  };
  index_entries(cache(), *sources, value_for<CountedIndexPtr>(std::move(reply), std::move(look_up)));
}

void TableFriend::Making::match_by_indices(Reply<TableStatePtr> reply) {
  auto read = [self = shared_from_this()](std::size_t file, Reply<void> done) {
    if (self->is_outdated_ || !self->has_stored_index(file)) return done({});
    self->read_index(file, std::move(done));
  };
  auto match = [self = shared_from_this()](Reply<TableStatePtr> done) { self->match_by_stored(std::move(done)); };
  for_each(index_->parts.size(), std::move(read), value_for<void>(std::move(reply), std::move(match)));
}

bool TableFriend::Making::has_stored_index(std::size_t file) const {
  const FactsPtr& facts = state_->members[file].facts;
  if (!facts) return false;
  const auto stored = std::ranges::find(facts->tables, table_->paths[file], &TableFacts::path);
  return stored != facts->tables.end() && stored->has_index;
}

void TableFriend::Making::read_index(std::size_t file, Reply<void> reply) {
  auto find = [self = shared_from_this(), file](const GenerationPtr& generation, Reply<void> answer) {
    if (generation->source->identity() != self->state_->members[file].facts->identity)
      return answer(tfile::fail(ErrorKind::stale, "the friend's file has changed"));
    auto read = [self, file, generation](const TablePlace& place, Reply<void> done) {
      self->read_index_of(file, generation, place, std::move(done));
    };
    auto job = [generation, path = self->table_->paths[file]] { return table_at(*generation, path); };
    answer_blocking(self->cache(), generation->source->origin(), std::move(job),
                    value_for<TablePlace>(std::move(answer), std::move(read)));
  };
  state_->files[file]->current(Freshness::recent, value_for<GenerationPtr>(std::move(reply), std::move(find)));
}

void TableFriend::Making::read_index_of(std::size_t file, const GenerationPtr& generation, const TablePlace& place,
                                        Reply<void> reply) {
  const tfile::KeyInfo& key = place.listing->keys[place.key];
  // The record, and the numbers made of it.
  const std::uint64_t bytes = 2 * std::uint64_t{key.objlen} + key.nbytes;
  auto job = [generation, place]() { return generation->file->entry_index(place.listing->keys[place.key]); };
  auto add = [self = shared_from_this(), file](const tfile::EntryIndex& index) { return self->add_index(file, index); };
  answer_blocking_within(cache(), generation->source->origin(), bytes, std::move(job),
                         answer_with<tfile::EntryIndex>(std::move(reply), std::move(add)));
}

Result<void> TableFriend::Making::add_index(std::size_t file, const tfile::EntryIndex& stored) {
  if (stored_key_ && (stored_key_->major != stored.major_name || stored_key_->minor != stored.minor_name))
    return tfile::fail(ErrorKind::unsupported, state_->members[file].name + ": its index is by " + stored.major_name +
                                                   " and " + stored.minor_name + ", that of another file by " +
                                                   stored_key_->major + " and " + stored_key_->minor);
  stored_key_ = FriendKey{stored.major_name, stored.minor_name};
  // Entries were appended since the index was made, which knows nothing of them: its columns still do.
  is_outdated_ = static_cast<std::int64_t>(stored.major.size()) != index_->parts[file].of.count;
  if (is_outdated_ && index_->parts.size() > 1)
    return tfile::fail(ErrorKind::unsupported,
                       state_->members[file].name + ": its index is out of date: made before its last entries");
  if (is_outdated_) return {};
  stored_entries_ += static_cast<std::int64_t>(stored.major.size());
  index_->memory = {};
  TRY(index_->memory, memory_of_index(cache(), stored_entries_));
  index_->parts[file].index = KeyIndex(stored);
  return {};
}

void TableFriend::Making::match_by_stored(Reply<TableStatePtr> reply) {
  if (!stored_key_) return reply(by_position());
  const FriendKey& key = *stored_key_;
  if (is_outdated_) return match_by_columns(key, std::move(reply));
  auto wanted = key_sources(of(), key);
  if (!wanted && wanted.error().kind == ErrorKind::not_found) {
    friend_->context_.errors.add(friend_->path_, "matched by position: " + wanted.error().text);
    return reply(by_position());
  }
  if (!wanted)
    return reply(tfile::fail(ErrorKind::unsupported,
                             "its index is by " + key.major + " and " + key.minor + ": " + wanted.error().text));
  wanted->cuts = true;
  look_up(*wanted, std::exchange(index_, nullptr), std::move(reply));
}

void TableFriend::Making::look_up(const KeySources& wanted, CountedIndexPtr index, Reply<TableStatePtr> reply) {
  auto show = [self = shared_from_this()](MatchedRunsPtr matched) { return self->with_or_without(std::move(matched)); };
  match_entries(cache(), wanted, std::move(index), answer_with<MatchedRunsPtr>(std::move(reply), std::move(show)));
}

TableStatePtr TableFriend::Making::with_or_without(MatchedRunsPtr matched) const {
  auto shown = std::make_shared<const FriendTable>(table_->chained, of().table(), FriendRows::any);
  auto streams = std::make_shared<FriendStreams>(cache(), shown, entries_of(matched), table_->streams);
  const auto matches = FriendTable::of_matches(of().table());
  auto of_matches = std::make_shared<FriendStreams>(cache(), matches, entries_of(std::move(matched)), nullptr);
  return state(shown, std::move(streams),
               std::make_shared<const LoadedTable>(matches, cache(), std::move(of_matches), friend_->path_));
}

TableStatePtr TableFriend::Making::state(const std::shared_ptr<const FriendTable>& shown,
                                         std::shared_ptr<CachedStreams> streams,
                                         std::shared_ptr<const LoadedTable> hidden) const {
  auto made = std::make_shared<TableState>();
  made->serial = next_state();
  made->loaded = std::make_shared<const LoadedTable>(shown, cache(), std::move(streams), friend_->path_);
  made->hidden = std::move(hidden);
  made->from = state_->from;
  made->xattrs = {{"user.tfilefs.name", name_in_path(table_->path)},
                  {"user.tfilefs.title", shown->title},
                  {"user.tfilefs.class", "TFriendElement"},
                  {"user.tfilefs.files", std::to_string(state_->members.size())}};
  return made;
}

TableFriend::TableFriend(MountContext& context, FriendSource source, std::shared_ptr<const LoadedTable> of,
                         std::string path)
    : context_(context), source_(std::move(source)), of_(std::move(of)), path_(std::move(path)) {}

// That a friend is not there is trouble, which users are told of; the directory of it is there.
Error TableFriend::logged(Error error) const {
  if (is_cancelled(error)) return error;
  if (error.kind == ErrorKind::not_found || error.kind == ErrorKind::denied) {
    error.kind = ErrorKind::io;
    error.system_errno = 0;
  }
  context_.errors.add(path_, error);
  return error;
}

void TableFriend::current(Freshness freshness, Reply<TableStatePtr> reply) const {
  auto make = [self = shared_from_this()](States now, Reply<TableStatePtr> done) {
    Once<TableStatePtr> once, dropped;  // what goes is destroyed after the lock is released
    States before = now;
    {
      const Lock lock(self->mutex_);
      std::swap(self->states_, before);
      if (before != now) std::swap(self->made_, dropped);
      once = self->made_;
    }
    once.get([&](Reply<TableStatePtr> made) { std::make_shared<Making>(self, now)->run(std::move(made)); },
             std::move(done));
  };
  auto log = [self = shared_from_this()](Result<TableStatePtr>& made) {
    if (!made) made = tl::unexpected<Error>(self->logged(std::move(made).error()));
  };
  std::vector<std::shared_ptr<Chain>> chains{source_.chain};
  chains.insert(chains.end(), source_.before.begin(), source_.before.end());
  current_states(std::move(chains), freshness,
                 value_for<States>(seen_by(std::move(reply), std::move(log)), std::move(make)));
}

TableFriends::TableFriends(MountContext& context, const std::vector<FriendSource>& sources,
                           const std::shared_ptr<const LoadedTable>& of, const std::string& path) {
  for (const FriendSource& source : sources) {
    if (find(source.alias)) continue;
    all_.push_back(std::make_shared<const TableFriend>(context, source, of,
                                                       path + "/" + std::string(kFriendsName) + "/" + source.alias));
  }
}

std::shared_ptr<const LiveTable> TableFriends::find(std::string_view alias) const {
  const auto at = std::ranges::find_if(all_, [&](const auto& of) { return of->alias() == alias; });
  return at != all_.end() ? *at : nullptr;
}

std::vector<std::string> TableFriends::aliases() const {
  std::vector<std::string> found;
  for (const auto& of : all_) found.push_back(tfile::unescape_name(of->alias()));
  return found;
}

void TableFriends::joined(std::string_view alias, Reply<Joined> reply) const {
  const auto at =
      std::ranges::find_if(all_, [&](const auto& of) { return tfile::unescape_name(of->alias()) == alias; });
  if (at == all_.end()) return reply(no_such_entry());
  auto show = [](const TableStatePtr& state) {
    const LoadedTable& loaded = *state->loaded;
    return Joined{state->serial, std::shared_ptr<const tfile::Table>(state, &loaded.table()), loaded.streams(),
                  state->hidden != nullptr};
  };
  (*at)->current(Freshness::recent, answer_with<TableStatePtr>(std::move(reply), show));
}

std::shared_ptr<const ShownFriends> friends_in_file(const GenerationPtr& generation,
                                                    const std::shared_ptr<const LoadedTable>& of) {
  MountContext& context = generation->context;
  const std::vector<tfile::FriendName>& named = of->table().friends;
  const bool is_mounted = generation->owner->path().empty();
  if (named.empty() && (!is_mounted || context.friends.empty())) return nullptr;
  std::vector<FriendSource> sources;
  if (is_mounted) sources = context.friends;
  std::vector<std::string_view> aliases;
  for (const tfile::FriendName& name : named) aliases.push_back(name.alias);
  const std::vector<std::string> shown = tfile::directory_names(aliases);
  const std::string path = of->path().substr(1) + "/" + std::string(kFriendsName) + "/";
  for (std::size_t i = 0; i < named.size(); ++i)
    sources.push_back({shown[i],
                       make_chain(context,
                                  make_friends_place(context, {{generation->owner, generation->source->name(),
                                                                generation->state.from, named[i]}}),
                                  ChainOptions(), path + shown[i]),
                       std::nullopt,
                       {},
                       {}});
  return std::make_shared<const TableFriends>(context, sources, of, of->path());
}

}  // namespace tfilefs
