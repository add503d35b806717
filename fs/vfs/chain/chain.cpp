// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain/chain.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <utility>

#include "descriptor_limit.h"
#include "exec/when_all.h"
#include "on_behalf.h"
#include "path_name.h"
#include "tfile/name.h"
#include "tfile/remote_listing.h"
#include "tfile/source.h"
#include "vfs/chain/open_chain_files.h"
#include "vfs/nodes/awaited_descriptor.h"
#include "vfs/nodes/blocking.h"
#include "view/chain/learning_streams.h"

namespace tfilefs {
namespace {

// Files that are opened at the same time: as many as a server may be asked for at once. A look at a file that is not
// opened is one question, and needs no memory.
constexpr std::size_t kOpenedAtOnce = 32, kLookedAtAtOnce = 64, kDescriptors = 8;

// The counts that the tables of the files told when they were opened.
void give_known(ChainCounts& counts, const PlannedTable& plan) {
  for (std::size_t file = 0; file < plan.of_files.size(); ++file) {
    const TableFacts* facts = plan.of_files[file];
    if (!facts || facts->lengths.empty()) continue;
    std::vector<std::int64_t> known(plan.table->count_ids(), -1);
    for (CountId id = 0; id < known.size(); ++id) {
      const CountSource source = plan.table->count_source(id, file);
      if (source.of != CountSource::Of::items) continue;
      const std::int64_t length = facts->lengths[source.column.id];
      if (length >= 0) known[id] = counted_items(source, length);
    }
    counts.give(file, known);
  }
}

// The lengths of columns that were counted.
void add_learned(FileFacts& facts, const ChainedTable& table, std::size_t file) {
  const ChainTable& chained = *table.chained;
  const auto counts = table.streams->counts().of_file(file);
  const auto of = std::ranges::find(facts.tables, table.paths[file], &TableFacts::path);
  if (of == facts.tables.end() || !of->schema) return;
  for (CountId id = 0; id < counts.size(); ++id) {
    const CountSource source = chained.count_source(id, file);
    if (counts[id] < 0 || source.of != CountSource::Of::items || source.times < 1) continue;
    if (of->lengths.empty()) of->lengths.assign(of->schema->columns.size(), -1);
    if (of->lengths[source.column.id] < 0) of->lengths[source.column.id] = counts[id] / source.times + source.is_ends;
  }
}

std::uint64_t bytes_of(const std::vector<ChainMember>& members) {
  std::uint64_t bytes = 0;
  for (const ChainMember& member : members) bytes += member.facts ? member.facts->identity.size : 0;
  return bytes;
}

}  // namespace

std::string numbered_name(std::size_t number, const std::string& name) {
  const std::string last = name_in_path(tfile::is_url(name) ? tfile::url_parts(name).path : name);
  std::array<char, 32> digits;
  std::snprintf(digits.data(), digits.size(), "%06zu-", number);
  const std::string numbered = digits.data() + last;
  return numbered.size() <= tfile::kNameMax ? numbered : tfile::escape_name(numbered);
}

const ChainedTable* ChainState::table(const std::string& wanted) const {
  const auto at = std::ranges::find_if(tables, [&](const ChainedTable& table) { return table.path == wanted; });
  return at != tables.end() ? &*at : nullptr;
}

std::uint64_t ChainState::learned() const {
  std::uint64_t known = serial << 32;
  for (const ChainedTable& table : tables) known += table.streams->counts().known_count();
  return known;
}

// One look at all files of a chain: first at their names, then at what has become of each; what is new or has changed
// is opened.
class Chain::Look : public std::enable_shared_from_this<Chain::Look> {
 public:
  Look(std::shared_ptr<Chain> chain, ChainStatePtr before);
  void run();

 private:
  struct File {
    ChainName name;
    std::shared_ptr<MountedFile> mounted;
    std::size_t number_before = SIZE_MAX;  // in the state before
    FactsPtr facts;                        // of that state, or of the index; then as they are now
    bool is_read = false;                  // it is opened: nothing is known of it, or it has changed
    std::optional<Error> error;            // why it cannot be opened
  };

  // Files that were there before keep their order; the others come behind them.
  Result<> list();

  // The index of a file holds if the file's identity is the same.
  void read_indexed();

  // Steps through the files that are to be read, or the others.
  void each_file(bool is_read, std::size_t at_most, void (Look::*step)(File&, Reply<void>), Reply<void> reply);
  void look_at(File& file, Reply<void> reply);

  // Whether a reader has found that the file is not the one that the chain knows.
  bool was_found_changed(const File& file) const;
  void read_file(File& file, Reply<void> reply);

  // A dataset's claims on a file need not be so.
  void check_claims(const File& file) const;
  bool is_as_before() const;

  // Why a file that joins a chain cannot be a part of it yet.
  std::optional<std::string> why_not_yet(const File& file) const;

  // A file that joins does not take away what was there. It is looked at again the next time: it may not be whole yet.
  void leave_out_what_cannot_join();

  // A file of the chain that cannot be opened any more keeps its place: reading its entries gives the error.
  void keep_what_fails_now();
  Result<ChainStatePtr> state();
  static Provenance provenance(const std::vector<ChainMember>& members);
  static Xattrs xattrs(const ChainState& made, const PlannedTable& plan);
  void add_table(ChainState& made, const PlannedTable& plan);

  // Says it of the table at this path.
  void say(const std::string& path, const std::string& text) const;

  // Whether the state before had the same of the file.
  bool is_known(const File& file) const;

  // Handles of the state before show the file no more.
  void note_changed(const File& file) const;

  const std::shared_ptr<Chain> chain_;
  const ChainStatePtr before_;
  const Clock::time_point began_;
  Clock::duration took_{};  // without the files that were opened
  std::vector<File> files_;
  std::map<std::pair<std::string, std::string>, FactsPtr> indexed_;  // by file and table
  std::size_t index_size_ = 0;                                       // files that the index tells of
};

Chain::Look::Look(std::shared_ptr<Chain> chain, ChainStatePtr before)
    : chain_(std::move(chain)), before_(std::move(before)), began_(Clock::now()) {}

void Chain::Look::run() {
  using Told = Reply<ChainStatePtr>;
  auto build = [self = shared_from_this()](Told told) {
    answer_blocking(
        self->chain_->context_.cache, [self] { return self->state(); }, std::move(told));
  };
  auto read = [self = shared_from_this(), build](Told told) {
    self->took_ = Clock::now() - self->began_;
    self->each_file(true, files_within_limit(kOpenedAtOnce, kDescriptors), &Look::read_file,
                    value_for<void>(std::move(told), build));
  };
  auto look = [self = shared_from_this(), read](Told told) {
    self->each_file(false, kLookedAtAtOnce, &Look::look_at, value_for<void>(std::move(told), read));
  };
  auto finish = [self = shared_from_this()](Result<ChainStatePtr> state) {
    self->chain_->finish_look(std::move(state), self->took_);
  };
  answer_opening(
      chain_->context_.cache, [self = shared_from_this()] { return self->list(); },
      value_for<void>(Told(std::move(finish)), look));
}

Result<> Chain::Look::list() {
  TRY(std::vector<ChainName> names, chain_->place_->list());
  files_.clear();
  indexed_.clear();
  if (!before_) read_indexed();
  std::multimap<std::string_view, std::size_t> left;  // names by file
  for (std::size_t i = 0; i < names.size(); ++i) left.emplace(names[i].file, i);
  std::vector<bool> is_known(names.size());
  for (std::size_t i = 0; before_ && i < before_->members.size(); ++i) {
    const auto [begin, end] = left.equal_range(before_->names[i].file);
    const auto same = std::find_if(begin, end, [&](const auto& n) { return names[n.second] == before_->names[i]; });
    if (same == end) continue;
    const FactsPtr& facts = before_->members[i].facts;
    files_.push_back({before_->names[i], before_->files[i], i, facts, facts == nullptr, {}});
    is_known[same->second] = true;
    left.erase(same);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_known[i]) continue;
    ChainName& name = names[i];
    TRY(auto mounted, chain_->place_->file(name.file, chain_->path_of(files_.size(), name.file)));
    const auto known = indexed_.find({tfile::shown_name(name.file), name.table});
    const FactsPtr facts = known != indexed_.end() ? known->second : nullptr;
    files_.push_back({std::move(name), std::move(mounted), SIZE_MAX, facts, facts == nullptr, {}});
  }
  indexed_.clear();
  return {};
}

void Chain::Look::read_indexed() {
  if (chain_->options_.index.empty()) return;
  auto index = read_index(chain_->options_.index, chain_->schemas_);
  if (!index && index.error().kind != ErrorKind::not_found) chain_->context_.errors.add("/", index.error());
  if (!index) return;
  index_size_ = index->size();
  for (IndexedFile& file : *index) indexed_.emplace(std::pair(file.name, file.table), std::move(file.facts));
}

void Chain::Look::each_file(bool is_read, std::size_t at_most, void (Look::*step)(File&, Reply<void>),
                            Reply<void> reply) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < files_.size(); ++i)
    if (files_[i].is_read == is_read) numbers.push_back(i);
  const std::size_t count = numbers.size();
  auto begin = [self = shared_from_this(), numbers = std::move(numbers), step](std::size_t i, Reply<void> done) {
    (self.get()->*step)(self->files_[numbers[i]], std::move(done));
  };
  when_all(count, at_most, std::move(begin), std::move(reply));
}

void Chain::Look::look_at(File& file, Reply<void> reply) {
  const FileLocator& origin = file.mounted->origin();
  auto look = [self = shared_from_this(), &file, &origin]() -> Result<> {
    const auto now = origin.peek();
    // A file that is gone, or whose server does not answer, keeps its place: reading it gives the error.
    const bool was_open = file.number_before != SIZE_MAX;
    if (now)
      file.is_read = !now->identity.may_be_same(file.facts->identity) || self->was_found_changed(file);
    else
      file.is_read = !was_open;
    return {};
  };
  answer_blocking(chain_->context_.cache, origin.server_id(), std::move(look), std::move(reply));
}

bool Chain::Look::was_found_changed(const File& file) const {
  return file.number_before != SIZE_MAX &&
         std::ranges::any_of(before_->opened, [&](const auto& opened) { return opened->is_stale(file.number_before); });
}

void Chain::Look::read_file(File& file, Reply<void> reply) {
  auto take = [self = shared_from_this(), &file](Result<FactsPtr> facts, Reply<void> done) {
    if (!facts)
      file.error = std::move(facts).error();
    else
      file.facts = *std::move(facts);
    done({});
  };
  // The tables of the only file are open as long as the chain is read. Of many files, that would be too many.
  const KeptSchemas schemas{chain_->schemas_, files_.size() == 1};
  read_facts(chain_->context_, *file.mounted, file.name.table, schemas,
             on_behalf_of<FactsPtr>(std::move(reply), std::move(take)));
}

void Chain::Look::check_claims(const File& file) const {
  const std::string shown = tfile::shown_name(file.name.file);
  const auto say = [&](const std::string& text) {
    chain_->context_.errors.add("/" + chain_->path_, shown + ": " + text);
  };
  if (!file.name.uuid.empty() && file.name.uuid != file.facts->uuid)
    say("its UUID is " + file.facts->uuid + ", not " + file.name.uuid + " as the dataset says");
  if (!file.name.entries) return;
  std::int64_t entries = 0;
  for (const TableFacts& table : file.facts->tables) entries += table.entries;
  if (entries != *file.name.entries)
    say("it has " + std::to_string(entries) + " entries, not " + std::to_string(*file.name.entries) +
        " as the dataset says");
}

bool Chain::Look::is_as_before() const {
  if (!before_ || files_.size() != before_->members.size()) return false;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].number_before != i || files_[i].facts != before_->members[i].facts) return false;
    if (files_[i].error && before_->members[i].facts) return false;
  }
  return true;
}

std::optional<std::string> Chain::Look::why_not_yet(const File& file) const {
  if (file.error) return message_of(*file.error);
  if (chain_->options_.policy != ChainPolicy::common || !file.name.table.empty() || file.facts->tables.empty())
    return std::nullopt;
  for (const ChainedTable& table : before_->tables) {
    if (std::ranges::find(file.facts->tables, table.path, &TableFacts::path) == file.facts->tables.end())
      return "it has no table " + table.path;
  }
  return std::nullopt;
}

void Chain::Look::leave_out_what_cannot_join() {
  if (!before_ || chain_->options_.skips_missing) return;
  std::erase_if(files_, [&](const File& file) {
    const auto reason = file.number_before == SIZE_MAX ? why_not_yet(file) : std::nullopt;
    if (reason)
      chain_->context_.errors.add("/" + chain_->path_,
                                  tfile::shown_name(file.name.file) + ": not added to the chain: " + *reason);
    return reason.has_value();
  });
}

void Chain::Look::keep_what_fails_now() {
  for (File& file : files_) {
    const bool is_kept = file.number_before != SIZE_MAX && file.facts && !chain_->options_.skips_missing;
    if (!file.error || !is_kept) continue;
    chain_->context_.errors.add("/" + chain_->path_,
                                tfile::shown_name(file.name.file) + ": cannot be read now: " + message_of(*file.error));
    file.error.reset();
  }
}

Result<ChainStatePtr> Chain::Look::state() {
  leave_out_what_cannot_join();
  keep_what_fails_now();
  if (is_as_before()) return before_;
  auto made = std::make_shared<ChainState>();
  for (File& file : files_) {
    const std::string shown = tfile::shown_name(file.name.file);
    if (file.error && !chain_->options_.skips_missing) {
      if (file.error->text.find(shown) == std::string::npos) file.error->text = shown + ": " + file.error->text;
      return tl::unexpected(*file.error);
    }
    if (file.error) chain_->context_.errors.add("/" + chain_->path_, shown + ": left out: " + message_of(*file.error));
    made->names.push_back(file.name);
    made->members.push_back(
        {shown, file.name.table, file.error ? nullptr : file.facts, file.error ? message_of(*file.error) : ""});
    made->files.push_back(file.mounted);
  }
  if (!before_) TRY_VOID(check_named_tables(made->members));
  TRY(const ChainPlan plan, plan_chain(made->members, chain_->options_.policy));
  made->serial = next_state();
  made->from = provenance(made->members);
  made->json = chain_json(made->members, plan, chain_->options_.policy);
  for (const PlannedTable& table : plan.tables) add_table(*made, table);
  for (const LeftOutTable& table : plan.left_out)
    say(table.path, "left out: " + std::to_string(table.without.size()) + " of " +
                        std::to_string(made->members.size()) + " files do not have it, see .chain.json");
  const bool is_indexed = !before_ && index_size_ == files_.size() &&
                          std::ranges::none_of(files_, [](const File& file) { return file.is_read; });
  if (is_indexed) made->indexed = made->learned();
  for (const File& file : files_) {
    note_changed(file);
    if (file.facts && !file.error && !is_known(file)) check_claims(file);
  }
  return ChainStatePtr(std::move(made));
}

Provenance Chain::Look::provenance(const std::vector<ChainMember>& members) {
  Provenance from;
  from.mode = S_IFREG | 0444;
  bool is_first = true;
  for (const ChainMember& member : members) {
    if (!member.facts) continue;
    const Provenance& own = member.facts->from;
    const auto later = [](const timespec& a, const timespec& b) {
      return std::pair(a.tv_sec, a.tv_nsec) > std::pair(b.tv_sec, b.tv_nsec) ? a : b;
    };
    const Provenance all = from;
    if (std::exchange(is_first, false)) from = own;
    from.mode &= own.mode;
    from.modified = later(all.modified, own.modified);
    from.changed = later(all.changed, own.changed);
  }
  return from;
}

Xattrs Chain::Look::xattrs(const ChainState& made, const PlannedTable& plan) {
  return {{"user.tfilefs.name", name_in_path(plan.path)},
          {"user.tfilefs.title", plan.title},
          {"user.tfilefs.class", "TChain"},
          {"user.tfilefs.files", std::to_string(made.members.size())}};
}

void Chain::Look::add_table(ChainState& made, const PlannedTable& plan) {
  std::vector<OpenChainFiles::File> files;
  for (std::size_t i = 0; i < plan.of_files.size(); ++i) {
    const TableFacts* facts = plan.of_files[i];
    OpenChainFiles::File& file = files.emplace_back();
    if (facts)
      file = {made.files[i], facts->path, made.members[i].facts->identity, made.members[i].facts->uuid,
              std::shared_ptr<const TableFacts>(made.members[i].facts, facts)};
  }
  ClusterCache& cache = chain_->context_.cache;
  const auto opener = std::make_shared<OpenChainFiles>(cache, std::move(files));
  const std::string path = "/" + chain_->path_ + (chain_->path_.empty() ? "" : "/") + plan.path;
  const auto streams = std::make_shared<ChainStreams>(
      cache, plan.table, opener, CachedStreams::Files{bytes_of(made.members), files_json(made.members, plan)});
  give_known(streams->counts(), plan);
  auto origins = std::make_shared<ChainTable>(origins_schema(plan.schemas.size()), plan.table->files(),
                                              std::vector<std::uint64_t>());
  const auto of_origins = std::make_shared<ChainStreams>(cache, origins, opener, CachedStreams::Files{});
  ChainedTable& table = made.tables.emplace_back();
  table.path = plan.path;
  auto shown = std::make_shared<TableState>();
  shown->serial = made.serial;
  shown->loaded = std::make_shared<const LoadedTable>(plan.table, cache, learning_streams(cache, streams, plan.table),
                                                      path, tfile::kLocalOrigin, nullptr, std::vector<std::string>(),
                                                      TableRanges{std::make_shared<KnownRanges>(), 0});
  shown->hidden = std::make_shared<const LoadedTable>(origins, cache, of_origins, path);
  shown->from = made.from;
  shown->xattrs = xattrs(made, plan);
  if (chain_->friends_) shown->friends = chain_->friends_(made, plan, shown->loaded);
  shown->friends_in_expressions = shown->friends;
  table.shown = std::move(shown);
  table.chained = plan.table;
  table.streams = streams;
  for (const TableFacts* facts : plan.of_files) table.paths.push_back(facts ? facts->path : "");
  table.differences = plan.differences;
  made.opened.push_back(opener);
  say(plan.path, differences_text(plan));
  say(plan.path, missing_text(made.members, plan));
}

void Chain::Look::say(const std::string& path, const std::string& text) const {
  if (!text.empty()) chain_->context_.errors.add("/" + chain_->path_ + (chain_->path_.empty() ? "" : "/") + path, text);
}

bool Chain::Look::is_known(const File& file) const {
  return file.number_before != SIZE_MAX && file.facts == before_->members[file.number_before].facts;
}

void Chain::Look::note_changed(const File& file) const {
  if (file.number_before == SIZE_MAX || is_known(file)) return;
  for (const auto& opened : before_->opened) opened->set_stale(file.number_before);
}

Chain::Chain(MountContext& context, std::unique_ptr<const ChainPlace> place, ChainOptions options, std::string path,
             FriendsOfTable friends, ChainAbout about)
    : context_(context),
      place_(std::move(place)),
      options_(std::move(options)),
      path_(std::move(path)),
      about_(std::move(about)),
      friends_(std::move(friends)) {}

// The facts that the tables of the files told, and those learned since. Passwords and tokens of URLs are not written.
std::vector<IndexedFile> Chain::to_index(const ChainState& state) const {
  std::vector<IndexedFile> files;
  for (std::size_t i = 0; i < state.members.size(); ++i) {
    if (!state.members[i].facts) continue;
    auto facts = std::make_shared<FileFacts>(*state.members[i].facts);
    for (const ChainedTable& table : state.tables) add_learned(*facts, table, i);
    files.push_back({tfile::shown_name(state.names[i].file), state.names[i].table, std::move(facts)});
  }
  return files;
}

void Chain::save() {
  const ChainStatePtr state = known();
  if (options_.index.empty() || !state) return;
  const std::uint64_t learned = state->learned();
  if (learned == saved_ || learned == state->indexed) return;
  if (auto written = write_index(options_.index, to_index(*state)); !written)
    context_.errors.add("/", written.error());
  else
    saved_ = learned;
}

std::string Chain::path_of(std::size_t i, const std::string& name) const {
  return path_ + (path_.empty() ? "" : "/") + ".files/" + numbered_name(i, tfile::shown_name(name));
}

ChainStatePtr Chain::known() const {
  const Lock lock(mutex_);
  return state_;
}

void Chain::current(Freshness freshness, Reply<ChainStatePtr> reply) {
  ChainStatePtr known;
  {
    const Lock lock(mutex_);
    const bool may_be_recent = freshness == Freshness::recent;
    const auto enough = may_be_recent ? std::max<Clock::duration>(MountedFile::kRecent, holds_for_) : holds_for_;
    if (Clock::now() - looked_at_ < enough) known = state_;
    if (!known) (looking_ && may_be_recent ? asked_ : waiters_).push_back(std::move(reply));
  }
  if (known) return reply(std::move(known));
  start_look();
}

void Chain::start_look() {
  ChainStatePtr before;
  {
    const Lock lock(mutex_);
    if (waiters_.empty() || std::exchange(looking_, true)) return;
    asked_.swap(waiters_);
    before = state_;
  }
  std::make_shared<Look>(shared_from_this(), std::move(before))->run();
}

void Chain::finish_look(Result<ChainStatePtr> state, Clock::duration took) {
  std::vector<Reply<ChainStatePtr>> asked;
  ChainStatePtr dropped;  // destroyed after the lock is released
  {
    const Lock lock(mutex_);
    looking_ = false;
    asked.swap(asked_);
    if (state) {
      looked_at_ = Clock::now();
      if (*state == state_) holds_for_ = std::min<Clock::duration>(kLookShare * took, kHoldsMax);
      dropped = std::exchange(state_, *state);
    }
  }
  for (auto& reply : asked) reply(state);
  start_look();
}

}  // namespace tfilefs
