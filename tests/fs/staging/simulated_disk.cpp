// SPDX-License-Identifier: Apache-2.0
#include "fs/staging/simulated_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <set>
#include <utility>

namespace tfilefs {

using faults::DiskCall;
using Kind = DiskCall::Kind;

namespace {

constexpr std::size_t kSector = 512;

std::string bytes_of(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0) std::abort();
  std::string bytes(static_cast<std::size_t>(status.st_size), 0);
  if (::pread(file, bytes.data(), bytes.size(), 0) != status.st_size) std::abort();
  return bytes;
}

std::string joined_parts(std::span<const iovec> parts) {
  std::string bytes;
  for (const iovec& part : parts) bytes.append(static_cast<const char*>(part.iov_base), part.iov_len);
  return bytes;
}

}  // namespace

SimulatedDisk::SimulatedDisk(std::filesystem::path directory, Random::result_type seed)
    : directory_(std::move(directory)), random_(seed), names_(1) {
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    const Descriptor file(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    if (Tracked* const known = tracked(file.get())) known->synced = bytes_of(file.get());
  }
  note_names();
  names_.erase(names_.begin(), names_.end() - 1);
  faults::disk = this;
}

void SimulatedDisk::stop_in(std::uint64_t calls) {
  const std::lock_guard lock(mutex_);
  stop_at_ = calls_ + calls;
}

bool SimulatedDisk::has_stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

void SimulatedDisk::fail_in(std::uint64_t calls, int number, bool lasts) {
  const std::lock_guard lock(mutex_);
  fail_at_ = calls_ + calls;
  number_ = number;
  lasts_ = lasts;
}

bool SimulatedDisk::mend() {
  const std::lock_guard lock(mutex_);
  fail_at_ = UINT64_MAX;
  return std::exchange(failed_, false);
}

std::uint64_t SimulatedDisk::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

long SimulatedDisk::call(const DiskCall& what, const std::function<long()>& make) {
  const std::lock_guard lock(mutex_);
  ++calls_;
  if (stopped_ || calls_ >= stop_at_) return stop(what);
  if (is_failing(what.kind)) {
    failed_ = true;
    errno = number_;
    return -1;
  }
  const long result = what.kind == Kind::sync ? 0 : make();  // nothing is lost while the machine that tests runs
  const int number = errno;
  if (result >= 0) note(what, result);
  errno = number;
  return result;
}

bool SimulatedDisk::is_failing(Kind kind) const {
  if (lasts_ ? calls_ < fail_at_ : calls_ != fail_at_) return false;
  const bool takes_room = kind == Kind::write || kind == Kind::reserve || kind == Kind::make;
  return number_ != ENOSPC || takes_room;
}

// The call that is interrupted may have written a part.
long SimulatedDisk::stop(const DiskCall& what) {
  if (!std::exchange(stopped_, true) && what.kind == Kind::write && below(2) == 0) {
    const std::string bytes = joined_parts(what.parts);
    // A sector is written whole, or not at all.
    const std::uint64_t end = (what.offset + below(bytes.size() + kSector)) / kSector * kSector;
    const std::uint64_t size = std::min<std::uint64_t>(end - std::min(end, what.offset), bytes.size());
    const ssize_t done = ::pwrite(what.file, bytes.data(), size, static_cast<off_t>(what.offset));
    if (done > 0) note_write(what, static_cast<std::uint64_t>(done));
  }
  errno = EIO;
  return -1;
}

// Null: no file of the directory's.
SimulatedDisk::Tracked* SimulatedDisk::tracked(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  const auto [at, is_new] = files_.try_emplace(status.st_ino);
  // Opened anew: a duplicate would share its locks.
  if (is_new)
    at->second.file = Descriptor(::open(("/proc/self/fd/" + std::to_string(file)).c_str(), O_RDONLY | O_CLOEXEC));
  return &at->second;
}

void SimulatedDisk::note(const DiskCall& what, long result) {
  switch (what.kind) {
    case Kind::write:
      return note_write(what, static_cast<std::uint64_t>(result));
    case Kind::cut:
      if (Tracked* const known = tracked(what.file)) known->since.push_back({what.offset, std::nullopt});
      return;
    case Kind::reserve:
      return;
    case Kind::make:
    case Kind::name:
      return note_names();
    case Kind::sync:
      return note_sync(what.file);
  }
}

void SimulatedDisk::note_write(const DiskCall& what, std::uint64_t size) {
  if (Tracked* const known = tracked(what.file))
    known->since.push_back({what.offset, joined_parts(what.parts).substr(0, size)});
}

void SimulatedDisk::note_names() {
  Names names;
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    const Descriptor file(::open(entry.path().c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    names[entry.path().filename()] = status.st_ino;
    tracked(file.get())->had_name = true;
  }
  if (names_.back() != names) names_.push_back(std::move(names));
}

void SimulatedDisk::note_sync(int file) {
  if (Tracked* const known = tracked(file)) {
    known->synced = bytes_of(known->file.get());
    known->since.clear();
    return;
  }
  names_.erase(names_.begin(), names_.end() - 1);
  std::set<ino_t> named;
  for (const auto& [name, number] : names_.back()) named.insert(number);
  std::erase_if(files_, [&](const auto& each) { return each.second.had_name && !named.contains(each.first); });
}

void SimulatedDisk::leave(const std::filesystem::path& into, Ending ending) {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  const bool whole = ending == Ending::process;
  for (const auto& [name, number] : whole ? names_.back() : names_[below(names_.size())]) {
    const Tracked& file = files_.at(number);
    const std::string bytes = whole ? bytes_of(file.file.get()) : after_power_cut(file);
    std::ofstream(into / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

// Some of the states that a file has had since its last sync, with the first and the last.
std::vector<std::string> SimulatedDisk::states(const Tracked& file) {
  constexpr std::size_t kStatesMost = 12;
  std::vector<std::string> states{file.synced};
  std::string bytes = file.synced;
  for (std::size_t i = 0; i < file.since.size(); ++i) {
    const Event& event = file.since[i];
    if (!event.bytes) {
      bytes.resize(event.offset);
    } else {
      bytes.resize(std::max<std::size_t>(bytes.size(), event.offset + event.bytes->size()));
      bytes.replace(event.offset, event.bytes->size(), *event.bytes);
    }
    if (i + 1 == file.since.size() || below(file.since.size()) < kStatesMost) states.push_back(bytes);
  }
  return states;
}

std::string SimulatedDisk::after_power_cut(const Tracked& file) {
  const std::vector<std::string> seen = states(file);
  if (below(4) == 0) return below(2) == 0 ? seen.front() : seen.back();
  std::string bytes(seen[below(seen.size())].size(), 0);
  for (std::size_t at = 0; at < bytes.size(); at += kSector) {
    const std::string& state = seen[below(seen.size())];
    if (at < state.size()) state.copy(bytes.data() + at, std::min(kSector, bytes.size() - at), at);
  }
  return bytes;
}

}  // namespace tfilefs
