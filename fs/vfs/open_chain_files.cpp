// SPDX-License-Identifier: Apache-2.0
#include "vfs/open_chain_files.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "vfs/blocking.h"
#include "view/view.h"

namespace tfilefs {
namespace {

tl::unexpected<Error> changed_file(const MountedFile& file) {
  return tfile::fail(ErrorKind::stale, file.path() + ": changed since the chain was opened");
}

}  // namespace

void OpenChainFiles::streams(std::size_t file, Reply<StreamsPtr> reply) {
  if (!files_[file].mounted)
    return reply(tfile::fail(ErrorKind::damaged, "file " + std::to_string(file) + " of " +
                                                     std::to_string(files_.size()) + ": the file has no such table"));
  StreamsPtr known, dropped;  // destroyed after the lock is released
  bool is_stale = false, starts = false;
  {
    const Lock lock(mutex_);
    Open& open = open_[file];
    is_stale = open.is_stale;
    known = open.streams.lock();
    if (known) dropped = keep(known);
    if (!known && !is_stale) {
      open.waiters.push_back(std::move(reply));
      if (open.waiters.size() == 1 && opening_ == opening_max_) queue_.push_back(file);
      starts = open.waiters.size() == 1 && opening_ < opening_max_;
      opening_ += starts;
    }
  }
  if (is_stale) return reply(changed_file(*files_[file].mounted));
  if (known) return reply(std::move(known));
  if (starts) start(file);
}

// The one used last is the last to be closed.
OpenChainFiles::StreamsPtr OpenChainFiles::keep(const StreamsPtr& streams) {
  if (!kept_.empty() && kept_.back() == streams) return nullptr;
  const auto at = std::find(kept_.begin(), kept_.end(), streams);
  if (at != kept_.end()) kept_.erase(at);
  kept_.push_back(streams);
  if (kept_.size() <= kept_max_) return nullptr;
  StreamsPtr oldest = std::move(kept_.front());
  kept_.pop_front();
  return oldest;
}

void OpenChainFiles::start(std::size_t file) {
  files_[file].mounted->current(Freshness::recent, [self = shared_from_this(), file](Result<GenerationPtr> now) {
    if (!now) return self->finish(file, tl::unexpected(now.error()));
    self->find(file, *std::move(now));
  });
}

void OpenChainFiles::find(std::size_t file, GenerationPtr generation) {
  const File& known = files_[file];
  const bool is_same =
      generation->source->identity().may_be_same(known.identity) && uuid_of(*generation->file) == known.uuid;
  if (!is_same) return finish(file, changed_file(*known.mounted));
  auto job = [generation, path = files_[file].table] { return table_at(*generation, path); };
  auto load = [self = shared_from_this(), file, generation](Result<TablePlace> place) {
    if (!place) return self->finish(file, tl::unexpected(place.error()));
    load_whole(generation, *place, [self, file](Result<WholeTable> table) { self->finish(file, std::move(table)); });
  };
  answer_blocking(cache_, generation->source->origin(), std::move(job), Reply<TablePlace>(std::move(load)));
}

Result<OpenChainFiles::StreamsPtr> OpenChainFiles::checked(std::size_t file, const Result<WholeTable>& table) const {
  if (!table) return tl::unexpected(met_in(*this, file, table.error()));
  if (!holds(*files_[file].facts, *table->loaded)) return changed_file(*files_[file].mounted);
  return table->loaded->streams();
}

// Without a descriptor left, files that are read at present soon close, and those that only wait to be read again do
// now.
bool OpenChainFiles::try_again(std::size_t file, const Result<WholeTable>& table) {
  constexpr int kTriesMax = 200;
  constexpr std::chrono::milliseconds kPause{10};
  const bool is_full = !table && (table.error().system_errno == EMFILE || table.error().system_errno == ENFILE);
  std::deque<StreamsPtr> dropped;  // destroyed after the lock is released
  {
    const Lock lock(mutex_);
    int& tries = open_[file].tries;
    if (!is_full || ++tries > kTriesMax) tries = 0;
    if (tries == 0) return false;
    dropped.swap(kept_);
  }
  run_job(cache_, [self = shared_from_this(), file, kPause] {
    std::this_thread::sleep_for(kPause);
    self->start(file);
  });
  return true;
}

void OpenChainFiles::finish(std::size_t file, Result<WholeTable> table) {
  if (try_again(file, table)) return;
  const Result<StreamsPtr> streams = checked(file, table);
  std::vector<Reply<StreamsPtr>> waiters;
  StreamsPtr dropped;  // destroyed after the lock is released
  std::size_t next = files_.size();
  {
    const Lock lock(mutex_);
    waiters.swap(open_[file].waiters);
    if (streams) {
      open_[file].streams = *streams;
      dropped = keep(*streams);
    } else if (streams.error().kind == ErrorKind::stale) {
      open_[file].is_stale = true;
    }
    --opening_;
    if (!queue_.empty()) {
      next = queue_.front();
      queue_.pop_front();
      ++opening_;
    }
  }
  for (auto& waiter : waiters) waiter(streams);
  if (next < files_.size()) start(next);
}

bool OpenChainFiles::is_stale(std::size_t file) const {
  const Lock lock(mutex_);
  return open_[file].is_stale;
}

void OpenChainFiles::set_stale(std::size_t file) {
  const Lock lock(mutex_);
  open_[file].is_stale = true;
}

}  // namespace tfilefs
