// SPDX-License-Identifier: Apache-2.0
#include "vfs/file_locks.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "tfile/errnos.h"
#include "tfile/local_file.h"
#include "vfs/nodes/blocking.h"

namespace tfilefs {
namespace {

// How long a request waits between two tries, for locks that programs beside the mount hold. Doubled from try to try:
// the least is about what a short transaction takes; the most is not felt by a user, and costs little in hours.
constexpr std::chrono::milliseconds kPauseMin{1}, kPauseMax{32};

tl::unexpected<Error> lock_failure(int number) { return tfile::system_error("lock", number); }

// An open file of its own on the host. Locks for writing need one that is open for writing; what the owner may lock,
// the kernel has checked.
Result<Descriptor> opened_again(const Descriptor& file) {
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  constexpr int kFlags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  Descriptor own(::open(path.c_str(), O_RDWR | kFlags));
  if (!own) own = Descriptor(::open(path.c_str(), (::fcntl(file.get(), F_GETFL) & O_ACCMODE) | kFlags));
  if (!own) return lock_failure(errno);
  return own;
}

struct flock range_of(const FileLock& lock) {
  struct flock range {};
  range.l_type = lock.type;
  range.l_whence = SEEK_SET;
  range.l_start = lock.begin;
  range.l_len = lock.length;
  return range;
}

// Without waiting. Returns 0 or an errno.
int set_now(int fd, const FileLock& lock) {
  if (lock.is_flock) {
    const int operation = lock.type == F_UNLCK ? LOCK_UN : lock.type == F_RDLCK ? LOCK_SH : LOCK_EX;
    return ::flock(fd, operation | LOCK_NB) == 0 ? 0 : errno;
  }
  struct flock range = range_of(lock);
  return ::fcntl(fd, F_OFD_SETLK, &range) == 0 ? 0 : errno;
}

bool covers_all(const FileLock& lock) { return lock.is_flock || (lock.begin == 0 && lock.length == 0); }

}  // namespace

std::shared_ptr<const Descriptor> FileLocks::known_file(const File& file) {
  if (file.descriptor) return file.descriptor;
  const auto at = owners_.lower_bound({file.object, 0});
  return at != owners_.end() && at->first.first == file.object ? at->second->file : nullptr;
}

Result<std::shared_ptr<FileLocks::Owner>> FileLocks::owner_of(const File& file, HandleId handle, std::uint64_t owner) {
  std::shared_ptr<const Descriptor> of;
  {
    const Lock lock(mutex_);
    if (const auto known = owners_.find({file.object, owner}); known != owners_.end()) return known->second;
    of = known_file(file);
  }
  if (!of) of = std::make_shared<const Descriptor>(::memfd_create("tfilefs-locks", MFD_CLOEXEC));
  if (!*of) return lock_failure(errno);
  TRY(Descriptor own, opened_again(*of));
  auto made = std::make_shared<Owner>(std::move(own), of);
  made->handle = handle;
  const Lock lock(mutex_);
  // Another owner of what has no file on the host may have come first, with its file in memory.
  if (const auto known = known_file(file); known && known != of && !file.descriptor)
    return lock_failure(tfile::errnos::kLocked);
  return owners_.emplace(Key{file.object, owner}, std::move(made)).first->second;
}

Result<FileLocks::Tried> FileLocks::try_now(const Asked& asked) {
  const FileLock& wanted = asked.lock;
  if (wanted.type == F_UNLCK) {
    const Lock lock(mutex_);
    if (!owners_.contains({asked.file.object, wanted.owner})) return Tried{true, {}};
  }
  auto found = owner_of(asked.file, asked.handle, wanted.owner);
  if (!found && found.error().system_errno == EAGAIN) return Tried{};
  if (!found) return tl::unexpected(std::move(found).error());
  const std::shared_ptr<Owner>& owner = *found;
  const int number = set_now(owner->descriptor.get(), wanted);
  if (number == EAGAIN || number == EACCES) return Tried{};
  if (number != 0) return lock_failure(number);
  Tried tried{true, {}};
  {
    const Lock lock(mutex_);
    owner->handle = asked.handle;
    bool& has = wanted.is_flock ? owner->has_whole : owner->has_ranges;
    const bool had = has;
    has = wanted.type != F_UNLCK || (had && !covers_all(wanted));
    // The lock that it held before stays with it: it is too much rather than too little.
    if (wanted.type != F_UNLCK && !had) tried.grant = {owner, wanted.is_flock};
  }
  if (wanted.type != F_WRLCK) try_again(asked.file.object);
  return tried;
}

void FileLocks::set(const File& file, HandleId handle, const FileLock& lock, bool waits, Reply<Grant> reply) {
  {
    const Lock held(mutex_);
    pause_ = kPauseMin;
  }
  ask(std::make_shared<Asked>(Asked{file, handle, lock, waits}), std::move(reply));
}

void FileLocks::ask(const AskedPtr& asked, Reply<Grant> reply) {
  auto answer = [this, asked](Tried tried, Reply<Grant> done) {
    if (tried.is_granted) return done(std::move(tried.grant));
    if (!asked->waits) return done(lock_failure(tfile::errnos::kLocked));
    wait({asked, std::move(done)});
  };
  answer_reading(
      cache_, tfile::kLocalOrigin, [this, asked] { return try_now(*asked); },
      value_for<Tried>(std::move(reply), std::move(answer)));
}

void FileLocks::wait(Waiting waiting) {
  std::chrono::milliseconds pause{};
  {
    const Lock lock(mutex_);
    waiting_.push_back(std::move(waiting));
    if (std::exchange(is_timer_set_, true)) return;
    pause = pause_;
    pause_ = std::min(2 * pause_, kPauseMax);
  }
  timers_.after(pause, [this] { try_all_again(); });
}

void FileLocks::try_all_again() {
  std::vector<Waiting> all;
  {
    const Lock lock(mutex_);
    is_timer_set_ = false;
    all.swap(waiting_);
  }
  for (Waiting& each : all) ask(each.asked, std::move(each.reply));
}

// A lock of the file has gone, or is less.
void FileLocks::try_again(const std::array<std::uint64_t, 2>& object) {
  std::vector<Waiting> some;
  {
    const Lock lock(mutex_);
    const auto rest = std::stable_partition(waiting_.begin(), waiting_.end(),
                                            [&](const auto& one) { return one.asked->file.object != object; });
    some.assign(std::make_move_iterator(rest), std::make_move_iterator(waiting_.end()));
    waiting_.erase(rest, waiting_.end());
    if (!some.empty()) pause_ = kPauseMin;
  }
  for (Waiting& each : some) ask(each.asked, std::move(each.reply));
}

void FileLocks::take_back(const Grant& grant) {
  if (!grant.owner) return;
  const FileLock nothing{.is_flock = grant.is_flock, .type = F_UNLCK};
  set_now(grant.owner->descriptor.get(), nothing);
  std::array<std::uint64_t, 2> object{};
  {
    const Lock lock(mutex_);
    (grant.is_flock ? grant.owner->has_whole : grant.owner->has_ranges) = false;
    const auto at = std::ranges::find_if(owners_, [&](const auto& one) { return one.second == grant.owner; });
    if (at == owners_.end()) return;
    object = at->first.first;
    if (!grant.owner->has_whole && !grant.owner->has_ranges) owners_.erase(at);
  }
  try_again(object);
}

void FileLocks::test(const File& file, HandleId handle, const FileLock& wanted, Reply<FileLock> reply) {
  auto job = [this, file, handle, wanted]() -> Result<FileLock> {
    TRY(const auto owner, owner_of(file, handle, wanted.owner));
    struct flock range = range_of(wanted);
    if (::fcntl(owner->descriptor.get(), F_OFD_GETLK, &range) != 0) return lock_failure(errno);
    FileLock there = wanted;
    there.type = range.l_type;
    there.begin = range.l_start;
    there.length = range.l_len;
    there.holder = std::max(range.l_pid, 0);  // -1: one of an open file, which all those of mounts are
    return there;
  };
  answer_reading(cache_, tfile::kLocalOrigin, std::move(job), std::move(reply));
}

void FileLocks::close(const File& file, std::uint64_t owner, Reply<void> reply) {
  std::shared_ptr<Owner> going;
  {
    const Lock lock(mutex_);
    const auto known = owners_.find({file.object, owner});
    if (known != owners_.end()) {
      going = std::move(known->second);
      owners_.erase(known);
    }
  }
  if (!going) return reply({});
  auto job = [this, object = file.object, going = std::move(going)]() mutable -> Result<> {
    going.reset();
    try_again(object);
    return {};
  };
  answer_reading(cache_, tfile::kLocalOrigin, std::move(job), std::move(reply));
}

void FileLocks::release(HandleId handle) {
  std::vector<std::pair<Key, std::shared_ptr<Owner>>> going;
  {
    const Lock lock(mutex_);
    for (auto at = owners_.begin(); at != owners_.end();) {
      const auto here = at++;
      if (here->second->handle != handle) continue;
      going.emplace_back(here->first, std::move(here->second));
      owners_.erase(here);
    }
  }
  for (auto& [key, owner] : going) {
    owner.reset();
    try_again(key.first);
  }
}

void FileLocks::clear() {
  std::vector<Waiting> waiting;
  std::map<Key, std::shared_ptr<Owner>> owners;
  const Lock lock(mutex_);
  waiting.swap(waiting_);
  owners.swap(owners_);
}

}  // namespace tfilefs
