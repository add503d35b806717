// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/generation.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "descriptor_limit.h"
#include "vfs/nodes/awaited_descriptor.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/directory.h"
#include "vfs/nodes/loaded_table.h"

namespace tfilefs {

void RecentGenerations::keep(std::shared_ptr<const Generation> generation) {
  constexpr std::size_t kDescriptors = 4;  // two for the file, as many for others
  static const std::size_t files_max = files_within_limit(kFilesMax, kDescriptors);
  std::vector<std::shared_ptr<const Generation>> dropped;  // destroyed after the lock is released
  const Lock lock(mutex_);
  const auto at = std::find(kept_.begin(), kept_.end(), generation);
  if (at != kept_.end()) kept_.erase(at);
  kept_.push_back(std::move(generation));
  std::uint64_t memory = 0;
  for (const auto& kept : kept_) memory += kept->memory();
  while (kept_.size() > kFilesMin && (memory > memory_max_ || kept_.size() > files_max)) {
    memory -= std::min(memory, kept_.front()->memory());
    dropped.push_back(std::move(kept_.front()));
    kept_.pop_front();
  }
}

std::size_t RecentGenerations::count() const {
  const Lock lock(mutex_);
  return kept_.size();
}

void RecentGenerations::clear() {
  for (;;) {  // also where there is no memory for another list
    std::shared_ptr<const Generation> dropped;
    const Lock lock(mutex_);
    if (kept_.empty()) return;
    dropped = std::move(kept_.front());
    kept_.pop_front();
  }
}

namespace {
std::atomic<std::uint64_t> generations_made = 0;
}

Result<std::shared_ptr<const tfile::File>> FileLocator::read(std::shared_ptr<const GuardedSource> source) const {
  return tfile::File::open(std::move(source));
}

Result<tfile::Identity> FileLocator::reach(const CallerPtr&, Access, const std::string&) const {
  return tl::unexpected(not_admitted());
}

Generation::Generation(MountContext& mount, std::shared_ptr<MountedFile> of, std::shared_ptr<const GuardedSource> from,
                       std::shared_ptr<const tfile::File> opened, SourceState now)
    : context(mount),
      owner(std::move(of)),
      source(std::move(from)),
      file(std::move(opened)),
      state(std::move(now)),
      serial(++generations_made) {
  note_memory();
}

Generation::~Generation() {
  const Lock lock(mutex_);
  context.files_memory -= memory_;
}

void Generation::note_memory(std::uint64_t of_table) const {
  const std::uint64_t now = file->memory();
  const Lock lock(mutex_);
  context.files_memory += now - memory_;
  memory_ = now;
  tables_memory_ += of_table;
}

std::shared_ptr<const ShownFriends> Generation::friends(
    std::uint64_t seek, bool is_stored, const std::function<std::shared_ptr<const ShownFriends>()>& make) const {
  {
    const Lock lock(mutex_);
    if (const auto known = friends_.find({seek, is_stored}); known != friends_.end()) return known->second;
  }
  std::shared_ptr<const ShownFriends> made = make();
  const Lock lock(mutex_);
  return friends_.emplace(std::pair(seek, is_stored), std::move(made)).first->second;
}

std::uint64_t Generation::memory() const {
  const Lock lock(mutex_);
  return memory_ + tables_memory_;
}

std::shared_ptr<const Directory> Generation::root() const {
  {
    const Lock lock(mutex_);
    if (auto known = root_.lock()) return known;
  }
  auto made = context.make_root(shared_from_this());
  const Lock lock(mutex_);
  if (auto known = root_.lock()) return known;
  root_ = made;
  return made;
}

Once<std::shared_ptr<const LoadedTable>> Generation::table(std::uint64_t seek) const {
  const Lock lock(mutex_);
  return tables_[seek];
}

void Generation::release_idle_tables() const {
  decltype(tables_) known;
  {
    const Lock lock(mutex_);
    known = tables_;
  }
  for (const auto& [seek, once] : known) {
    const auto loaded = once.peek();
    if (!loaded) continue;
    const bool is_idle = (*loaded)->release_idle();
    if (!is_idle || loaded->use_count() > kOwnReferences || !(*loaded)->unread().empty()) continue;
    const std::uint64_t freed = (*loaded)->table().memory();
    const Lock lock(mutex_);
    tables_.erase(seek);
    tables_memory_ -= std::min(tables_memory_, freed);
  }
}

void Generation::admit(Access access, const CallerPtr& by, Reply<void> reply,
                       std::vector<tfile::Sibling> siblings) const {
  if (!by || (access != Access::write && siblings.empty() && was_admitted(*by))) return reply({});
  auto job = [self = shared_from_this(), access, by, siblings = std::move(siblings)]() -> Result<> {
    return self->check(access, by, siblings);
  };
  answer_opening(context.cache, std::move(job), std::move(reply));
}

namespace {

// The error as the caller may see it: a caller without access to a path must not learn what is wrong with it.
tl::unexpected<Error> refusal(const Error& error) {
  const bool is_told = error.kind == ErrorKind::not_found || error.kind == ErrorKind::stale || lacks_descriptor(error);
  return is_told ? tl::unexpected(error) : not_admitted();
}

}  // namespace

// The caller must be able to open this very file, not one that was or is at its path at another time.
Result<> Generation::check(Access access, const CallerPtr& by, const std::vector<tfile::Sibling>& siblings) const {
  const Access wanted = access == Access::write ? Access::write : Access::read;
  const auto found = owner->origin().reach(by, wanted, "");
  if (!found) return refusal(found.error());
  if (!found->is_same_object(source->identity())) {
    source->set_stale();
    return tfile::fail(ErrorKind::stale, "replaced by another file");
  }
  note_admitted(*by);
  for (const tfile::Sibling& sibling : siblings) {
    const auto beside = owner->origin().reach(by, Access::read, sibling.name);
    if (!beside && lacks_descriptor(beside.error())) return tl::unexpected(beside.error());
    if (!beside || !beside->is_same_object(sibling.identity)) return not_admitted();
  }
  return {};
}

bool Generation::was_admitted(const Caller& caller) const {
  const auto now = context.clock->now();
  const Lock lock(mutex_);
  return std::any_of(admitted_.begin(), admitted_.end(), [&](const Admitted& known) {
    return known.caller == caller && now - known.when < MountedFile::kRecent;
  });
}

void Generation::note_admitted(const Caller& caller) const {
  const auto now = context.clock->now();
  const Lock lock(mutex_);
  std::erase_if(admitted_, [&](const Admitted& known) {
    return known.caller == caller || now - known.when >= MountedFile::kRecent;
  });
  admitted_.push_back({caller, now});
}

void MountedFile::admit(Access access, const CallerPtr& by, Reply<void> reply) {
  auto ask = [self = shared_from_this(), access, by](const GenerationPtr& now, Reply<void> done) {
    if (access != Access::status) return now->admit(access, by, std::move(done));
    auto job = [self, by, now]() -> Result<> {
      const auto found = self->origin_->reach(by, Access::status, "");
      if (!found) return refusal(found.error());
      if (found->is_same_object(now->source->identity())) return {};
      now->source->set_stale();
      return tfile::fail(ErrorKind::stale, "replaced by another file");
    };
    answer_opening(self->context_.cache, std::move(job), std::move(done));
  };
  current(Freshness::recent, value_for<GenerationPtr>(std::move(reply), std::move(ask)));
}

// The one last seen, if that was a short time ago; otherwise null.
GenerationPtr MountedFile::recent(Freshness freshness) {
  GenerationPtr known;  // if this is the last owner, it is destroyed after the lock is released
  const Lock lock(mutex_);
  if (!switching_ && freshness == Freshness::recent && context_.clock->now() - checked_ < kRecent)
    known = current_.lock();
  return known && !known->source->is_stale() && !known->superseded ? known : nullptr;
}

void MountedFile::current(Freshness freshness, Reply<GenerationPtr> reply) {
  if (GenerationPtr known = recent(freshness)) return reply(std::move(known));
  auto ask = [self = shared_from_this()](Reply<GenerationPtr> done) { self->look(std::move(done)); };
  with_descriptor(context_.cache, std::move(ask), std::move(reply));
}

void MountedFile::current_at_once(Freshness freshness, Reply<GenerationPtr> reply) {
  if (GenerationPtr known = recent(freshness)) return reply(std::move(known));
  look(std::move(reply));
}

// With the generation that a look at the file finds, which begins after this call.
void MountedFile::look(Reply<GenerationPtr> reply) {
  {
    const Lock lock(mutex_);
    waiters_.push_back(std::move(reply));
  }
  start_check();
}

GenerationPtr MountedFile::known() {
  const Lock lock(mutex_);
  return current_.lock();
}

std::optional<tfile::Identity> MountedFile::identity_now() const {
  const auto state = origin_->look();
  return state ? std::optional(state->identity) : std::nullopt;
}

void MountedFile::expect_commit() {
  const auto now = identity_now();
  const std::uint64_t age = own_changes_->begin(now);
  GenerationPtr open;
  {
    const Lock lock(mutex_);
    committing_ = true;
    open = current_.lock();
  }
  // Another program may have changed the file before.
  if (open && now && open->source->accepts(open->source->accepted(), *now)) open->source->trust(own_changes_, age);
}

void MountedFile::expect_no_commit() {
  own_changes_->end(identity_now());
  {
    const Lock lock(mutex_);
    committing_ = false;
  }
  end_switch();
}

// From here on the file's bytes are of the next state; what was loaded of the former one stays.
void MountedFile::expect_switch() {
  GenerationPtr open;  // if this is the last owner, it is destroyed after the lock is released; below, too
  const Lock lock(mutex_);
  switching_ = true;
  open = current_.lock();
  if (open) open->superseded = true;
}

void MountedFile::end_switch() {
  {
    const Lock lock(mutex_);
    switching_ = false;
    if (waiters_.empty()) return;
  }
  start_check();
}

void MountedFile::expect_another() {
  const Lock lock(mutex_);
  ++files_;
  checked_ = {};
}

void MountedFile::supersede() {
  own_changes_->end(identity_now());
  {
    GenerationPtr open;
    const Lock lock(mutex_);
    committing_ = false;
    ++commits_;
    open = current_.lock();
    if (open) open->superseded = true;
  }
  end_switch();
}

void MountedFile::start_check() {
  {
    const Lock lock(mutex_);
    if (switching_ || std::exchange(checking_, true)) return;
  }
  const Result<> begun =
      tried([&] { run_job(context_.cache, origin_->server_id(), [self = shared_from_this()] { self->check(); }); });
  if (!begun) give_up_check(begun.error());
}

// The next request begins another look.
void MountedFile::give_up_check(const Error& error) {
  std::vector<Reply<GenerationPtr>> asked;
  {
    const Lock lock(mutex_);
    asked.swap(waiters_);
    checking_ = false;
  }
  for (auto& reply : asked) reply(tl::unexpected<Error>(error));
}

void MountedFile::check() {
  if (const Result<> done = tried([&] { answer_all(); }); !done) give_up_check(done.error());
}

// Answers the requests that came before the look. A request that comes meanwhile could get a state older than itself,
// so it waits for the next look.
void MountedFile::answer_all() {
  for (;;) {
    std::vector<Reply<GenerationPtr>> asked;
    std::uint64_t files = 0, commits = 0;
    {
      const Lock lock(mutex_);
      files = files_;
      commits = commits_;
      if (!switching_) asked.swap(waiters_);
      if (asked.empty()) {
        checking_ = false;
        return;
      }
    }
    const SteadyClock::Time now = context_.clock->now();
    const Result<GenerationPtr> result = result_of([this] { return look_again(); });
    {
      const Lock lock(mutex_);
      if (result) {
        current_ = *result;
        // A generation opened while a commit wrote is superseded with the others.
        if (committing_ || commits != commits_) (*result)->source->trust(own_changes_, own_changes_->age());
        if (commits != commits_) (*result)->superseded = true;
        checked_ = files == files_ ? now : SteadyClock::Time();
      } else if (result.error().kind == ErrorKind::timed_out) {
        // Those that came meanwhile would wait for as long, one look after the other.
        std::ranges::move(std::exchange(waiters_, {}), std::back_inserter(asked));
      }
    }
    if (result && origin_->is_opened_again()) context_.recent.keep(*result);
    for (auto& reply : asked) reply(result);
  }
}

namespace {
bool is_silence(const Error& error) {
  return error.kind == ErrorKind::timed_out || (error.kind == ErrorKind::io && error.system_errno != ENOENT);
}
}  // namespace

Result<GenerationPtr> MountedFile::look_again() {
  const GenerationPtr known = this->known();
  const std::uint64_t moment = own_changes_->moment();
  const tfile::Identity before = known ? known->source->accepted() : tfile::Identity{};
  auto state = origin_->look();
  const bool usable = known && !known->source->is_stale() && !known->superseded;
  if (usable && state && known->source->accepts(before, state->identity)) return known;
  // Storage that does not answer tells nothing about the file: what is open stays open.
  if (!state && is_silence(state.error())) return tl::unexpected(std::move(state).error());
  if (usable && own_changes_->moment() == moment) known->source->set_stale();
  if (!state) return tl::unexpected(std::move(state).error());
  {
    const Lock lock(mutex_);
    if (refused_ && refused_->first == state->identity) return tl::unexpected(refused_->second);
  }
  auto opened = open_new(*state);
  const Lock lock(mutex_);
  refused_.reset();
  if (!opened && is_lasting(opened.error())) refused_.emplace(state->identity, opened.error());
  return opened;
}

// A file that is damaged, or was never closed, may be in the middle of a save; one that changes while it is opened
// certainly is. It is then opened again.
Result<MountedFile::OpenedFile> MountedFile::open_settled() {
  constexpr int kTries = 8;
  constexpr std::chrono::milliseconds kPause{5};
  for (int tries = kTries;; --tries) {
    TRY(auto source, origin_->open());
    if (origin_->is_opened_again()) source->log_reads(context_.reads);
    auto file = origin_->read(source);
    const bool is_odd = file ? (*file)->recovered() : file.error().kind == ErrorKind::damaged;
    if (is_odd && tries > 1 && source->is_changing()) continue;
    if (!file && file.error().kind == ErrorKind::stale && tries > 1) {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    if (!file) return tl::unexpected(std::move(file).error());
    return OpenedFile{std::move(source), *std::move(file)};
  }
}

Result<GenerationPtr> MountedFile::open_new(const SourceState& seen) {
  SourceState state = seen;
  TRY(OpenedFile opened, open_settled());
  auto& [source, file] = opened;
  source->set_saved_end(static_cast<std::uint64_t>(file->header().end));
  // If the file has changed between the look and the opening, the opened state counts.
  if (source->identity() != state.identity) {
    TRY(state, origin_->look());
    state.identity = source->identity();
  }
  for (const std::string& warning : file->warnings()) context_.errors.add("/" + path_, warning);
  return std::make_shared<const Generation>(context_, shared_from_this(), std::move(source), std::move(file),
                                            std::move(state));
}

}  // namespace tfilefs
