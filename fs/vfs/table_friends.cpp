// SPDX-License-Identifier: Apache-2.0
#include "vfs/table_friends.h"

#include <algorithm>
#include <utility>

#include "tfile/name.h"
#include "vfs/blocking.h"
#include "vfs/friend_keys.h"
#include "vfs/friend_place.h"
#include "vfs/names.h"
#include "view/friends/friend_matching.h"
#include "view/friends/friend_streams.h"
#include "view/friends/friend_table.h"

namespace tfilefs {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The table of a chain that is the friend of the one at `path`, or that lies before it: the only one, or the one of
// that name.
const ChainedTable* table_beside(const ChainState& state, const std::string& path) {
  if (state.tables.size() == 1) return &state.tables[0];
  const auto same = std::ranges::find_if(
      state.tables, [&](const ChainedTable& table) { return last_part(table.path) == last_part(path); });
  return same != state.tables.end() ? &*same : nullptr;
}

}  // namespace

// Makes a friend's table from one state of its files.
class TableFriend::Making : public std::enable_shared_from_this<Making> {
 public:
  Making(std::shared_ptr<const TableFriend> of, ChainStatePtr state, Reply<TableStatePtr> reply)
      : friend_(std::move(of)), state_(std::move(state)), reply_(std::move(reply)) {}

  void start() {
    table_ = table_beside(*state_, friend_->of_->path());
    if (!table_) {
      const bool has_none = state_->tables.empty();
      return reply_(tfile::fail(ErrorKind::unsupported,
                                has_none ? "no table, or nothing in it" : "several tables: name one, as FILE:TABLE"));
    }
    if (friend_->source_.before.empty()) return match();
    add_before(0);
  }

 private:
  const LoadedTable& own() const { return *table_->shown->loaded; }
  const LoadedTable& of() const { return *friend_->of_; }
  ClusterCache& cache() const { return friend_->context_.cache; }

  template <class T, class Then>
  Reply<T> then(Then go_on) {
    auto told = [self = shared_from_this(), go_on = std::move(go_on)](Result<T> result) {
      if (!result) return self->reply_(tl::unexpected<Error>(std::move(result).error()));
      if constexpr (std::is_void_v<T>)
        go_on(*self);
      else
        go_on(*self, *std::move(result));
    };
    return Reply<T>(std::move(told), reply_.asker());
  }

  // Entries of the chains that lie before the table.
  void add_before(std::size_t i) {
    if (i == friend_->source_.before.size()) return match();
    friend_->source_.before[i]->current(Freshness::recent, then<ChainStatePtr>([i](Making& self, ChainStatePtr state) {
                                          const ChainedTable* before = table_beside(*state, self.of().path());
                                          if (before) self.first_ += before->chained->entries;
                                          self.add_before(i + 1);
                                        }));
  }

  void match() {
    if (friend_->source_.key) return match_by_columns(*friend_->source_.key);
    if (has_stored_index()) return read_index();
    by_position();
  }

  // Only that of one file, beside one table, tells of all entries.
  bool has_stored_index() const {
    const FactsPtr& facts = state_->members[0].facts;
    if (state_->members.size() != 1 || !facts || !friend_->source_.before.empty()) return false;
    const auto stored = std::ranges::find(facts->tables, table_->paths[0], &TableFacts::path);
    return stored != facts->tables.end() && stored->has_index;
  }

  // ---- by position

  void by_position() {
    const std::int64_t entries = std::max<std::int64_t>(0, of().table().entries);
    const std::int64_t own_entries = own().table().entries;
    const bool is_same = first_ == 0 && own_entries <= entries;
    const auto own_table = table_->chained;
    auto shown =
        std::make_shared<const FriendTable>(own_table, of().table(), is_same ? FriendRows::same : FriendRows::some);
    if (is_same) return finish(shown, table_->streams, nullptr);
    auto matched = std::make_shared<MatchedRuns>();
    matched->runs = EntryRuns::by_position(entries, std::min(first_, own_entries), own_entries);
    finish(shown, std::make_shared<FriendStreams>(cache(), shown, std::move(matched), table_->streams), nullptr);
  }

  // ---- by key

  void match_by_columns(const FriendKey& key) {
    auto sources = key_sources(own(), key);
    auto wanted = key_sources(of(), key);
    if (!sources || !wanted) {
      Error error = !sources ? sources.error() : wanted.error();
      error.kind = ErrorKind::unsupported;
      return reply_(tl::unexpected<Error>(std::move(error)));
    }
    index_entries(cache(), *sources,
                  then<CountedIndexPtr>([wanted = *std::move(wanted)](Making& self, CountedIndexPtr index) {
                    self.look_up(wanted, std::move(index));
                  }));
  }

  // The index is in the record of the tree, which is read once more for it.
  void read_index() {
    state_->files[0]->current(Freshness::recent, then<GenerationPtr>([](Making& self, const GenerationPtr& generation) {
                                self.find_index_in(generation);
                              }));
  }

  void find_index_in(const GenerationPtr& generation) {
    if (generation->source->identity() != state_->members[0].facts->identity)
      return reply_(tfile::fail(ErrorKind::stale, "the friend's file has changed"));
    auto find = [generation, path = table_->paths[0]] { return table_at(*generation, path); };
    answer_blocking(cache(), generation->source->origin(), std::move(find),
                    then<TablePlace>([generation](Making& self, const TablePlace& place) {
                      self.read_index_of(generation, place);
                    }));
  }

  void read_index_of(const GenerationPtr& generation, const TablePlace& place) {
    const tfile::KeyInfo& key = place.listing->keys[place.key];
    // The record, and the numbers made of it.
    const std::uint64_t bytes = 2 * std::uint64_t{key.objlen} + key.nbytes;
    auto job = [generation, place]() { return generation->file->entry_index(place.listing->keys[place.key]); };
    answer_blocking_within(
        cache(), generation->source->origin(), bytes, std::move(job),
        then<tfile::EntryIndex>([](Making& self, const tfile::EntryIndex& index) { self.match_by_index(index); }));
  }

  // As in ROOT: an index by what the table does not have is none.
  void match_by_index(const tfile::EntryIndex& stored) {
    const FriendKey key{stored.major_name, stored.minor_name};
    const auto wanted = key_sources(of(), key);
    if (!wanted && wanted.error().kind == ErrorKind::not_found && is_name(key.major) && is_name(key.minor)) {
      friend_->context_.errors.add(friend_->path_, "matched by position: " + wanted.error().text);
      return by_position();
    }
    if (!wanted)
      return reply_(tfile::fail(ErrorKind::unsupported, "its index is by " + key.major + " and " + key.minor +
                                                            ", and only names of columns are looked up"));
    auto memory = memory_of_index(cache(), static_cast<std::int64_t>(stored.major.size()));
    if (!memory) return reply_(tl::unexpected<Error>(memory.error()));
    auto index = std::make_shared<CountedIndex>();
    index->index = KeyIndex(stored);
    index->entries = own().table().entries;
    index->memory = *std::move(memory);
    look_up(*wanted, std::move(index));
  }

  void look_up(const KeySources& wanted, CountedIndexPtr index) {
    match_entries(cache(), wanted, std::move(index),
                  then<MatchedRunsPtr>([](Making& self, MatchedRunsPtr matched) { self.by_key(std::move(matched)); }));
  }

  void by_key(MatchedRunsPtr matched) {
    auto shown = std::make_shared<const FriendTable>(table_->chained, of().table(), FriendRows::by_key);
    auto streams = std::make_shared<FriendStreams>(cache(), shown, matched, table_->streams);
    const auto matches = FriendTable::of_matches(of().table());
    auto of_matches = std::make_shared<FriendStreams>(cache(), matches, std::move(matched), nullptr);
    finish(shown, std::move(streams),
           std::make_shared<const LoadedTable>(matches, cache(), std::move(of_matches), friend_->path_));
  }

  void finish(const std::shared_ptr<const FriendTable>& shown, std::shared_ptr<CachedStreams> streams,
              std::shared_ptr<const LoadedTable> hidden) {
    auto made = std::make_shared<TableState>();
    made->serial = next_state();
    made->loaded = std::make_shared<const LoadedTable>(shown, cache(), std::move(streams), friend_->path_);
    made->hidden = std::move(hidden);
    made->from = state_->from;
    made->xattrs = {{"user.tfilefs.name", last_part(table_->path)},
                    {"user.tfilefs.title", shown->title},
                    {"user.tfilefs.class", "TFriendElement"},
                    {"user.tfilefs.files", std::to_string(state_->members.size())}};
    reply_(TableStatePtr(std::move(made)));
  }

  const std::shared_ptr<const TableFriend> friend_;
  const ChainStatePtr state_;
  Reply<TableStatePtr> reply_;
  const ChainedTable* table_ = nullptr;  // of state_
  std::int64_t first_ = 0;               // the friend's entry that belongs to the table's first one
};

TableFriend::TableFriend(MountContext& context, FriendSource source, std::shared_ptr<const LoadedTable> of,
                         std::string path)
    : context_(context), source_(std::move(source)), of_(std::move(of)), path_(std::move(path)) {}

// That a friend is not there is trouble, which users are told of; the directory of it is there.
Error TableFriend::logged(Error error) const {
  if (error.system_errno == ECANCELED) return error;  // given_up()
  if (error.kind == ErrorKind::not_found || error.kind == ErrorKind::denied) {
    error.kind = ErrorKind::io;
    error.system_errno = 0;
  }
  context_.errors.add(path_, error);
  return error;
}

void TableFriend::current(Freshness freshness, Reply<TableStatePtr> reply) const {
  const std::stop_token asker = reply.asker();
  auto make = [self = shared_from_this(), reply = std::move(reply)](Result<ChainStatePtr> now) mutable {
    if (!now) return reply(tl::unexpected<Error>(self->logged(std::move(now).error())));
    Once<TableStatePtr> once, dropped;  // what goes is destroyed after the lock is released
    ChainStatePtr before = *now;
    {
      const Lock lock(self->mutex_);
      std::swap(self->state_, before);
      if (before != *now) std::swap(self->made_, dropped);
      once = self->made_;
    }
    const std::stop_token waits = reply.asker();
    auto told = [self, reply = std::move(reply)](Result<TableStatePtr> made) mutable {
      if (!made) return reply(tl::unexpected<Error>(self->logged(std::move(made).error())));
      reply(std::move(made));
    };
    once.get([&](Reply<TableStatePtr> made) { std::make_shared<Making>(self, *now, std::move(made))->start(); },
             Reply<TableStatePtr>(std::move(told), waits));
  };
  source_.chain->current(freshness, Reply<ChainStatePtr>(std::move(make), asker));
}

TableFriends::TableFriends(MountContext& context, const std::vector<FriendSource>& sources,
                           const std::shared_ptr<const LoadedTable>& of, const std::string& path) {
  for (const FriendSource& source : sources) {
    if (find(source.alias)) continue;
    all_.push_back(std::make_shared<const TableFriend>(context, source, of,
                                                       path + "/" + std::string(kFriendsName) + "/" + source.alias));
  }
}

std::shared_ptr<const TableFriend> TableFriends::find(std::string_view alias) const {
  const auto at = std::ranges::find_if(all_, [&](const auto& of) { return of->alias() == alias; });
  return at != all_.end() ? *at : nullptr;
}

std::shared_ptr<const TableFriends> friends_in_file(const GenerationPtr& generation,
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
                       std::make_shared<Chain>(context, make_friend_place(context, *generation, named[i]),
                                               ChainOptions(), path + shown[i]),
                       std::nullopt,
                       {}});
  return std::make_shared<const TableFriends>(context, sources, of, of->path());
}

}  // namespace tfilefs
