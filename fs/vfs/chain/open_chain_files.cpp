// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain/open_chain_files.h"

#include <algorithm>
#include <utility>

#include "on_behalf.h"
#include "vfs/nodes/awaited_descriptor.h"
#include "vfs/nodes/blocking.h"
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
  auto take = [self = shared_from_this(), file](const Result<WholeTable>& table) { self->finish(file, table); };
  auto ask = [self = shared_from_this(), file](Reply<WholeTable> reply) { self->open(file, std::move(reply)); };
  with_descriptor(cache_, std::move(ask), Reply<WholeTable>(std::move(take)));
}

void OpenChainFiles::open(std::size_t file, Reply<WholeTable> reply) {
  auto found = [self = shared_from_this(), file](const GenerationPtr& now, Reply<WholeTable> done) {
    self->find(file, now, std::move(done));
  };
  auto make_room = [self = shared_from_this()](const Result<WholeTable>& table) {
    if (!table && lacks_descriptor(table.error())) self->close_idle();
  };
  files_[file].mounted->current_at_once(
      Freshness::recent, value_for<GenerationPtr>(seen_by(std::move(reply), std::move(make_room)), std::move(found)));
}

void OpenChainFiles::find(std::size_t file, const GenerationPtr& generation, Reply<WholeTable> reply) {
  const File& known = files_[file];
  const bool is_same =
      generation->source->identity().may_be_same(known.identity) && uuid_of(*generation->file) == known.uuid;
  if (!is_same) return reply(changed_file(*known.mounted));
  auto job = [generation, path = known.table] { return table_at(*generation, path); };
  auto load = [generation](const TablePlace& place, Reply<WholeTable> done) {
    load_whole(generation, place, std::move(done));
  };
  answer_blocking(cache_, generation->source->origin(), std::move(job),
                  value_for<TablePlace>(std::move(reply), std::move(load)));
}

Result<OpenChainFiles::StreamsPtr> OpenChainFiles::checked(std::size_t file, const Result<WholeTable>& table) const {
  if (!table) return tl::unexpected(met_in(*this, file, table.error()));
  if (!holds(*files_[file].facts, *table->loaded)) return changed_file(*files_[file].mounted);
  return table->loaded->streams();
}

// Those that only wait to be read again.
void OpenChainFiles::close_idle() {
  std::deque<StreamsPtr> dropped;  // destroyed after the lock is released
  const Lock lock(mutex_);
  dropped.swap(kept_);
}

void OpenChainFiles::finish(std::size_t file, const Result<WholeTable>& table) {
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
