// SPDX-License-Identifier: Apache-2.0
#include "staging/overlay/staged_bytes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "tfile/check.h"

namespace tfilefs {
namespace {

constexpr std::uint64_t kSizeMax = std::numeric_limits<std::int64_t>::max();  // that of off_t
// The first block of a file has room for what the first write brings, and then grows by doubling, so that thousands of
// short columns take little memory; later blocks have their full size.
constexpr std::size_t kSmallestBuffer = 4096;
// A block in more parts than this is written as a whole when it is spilled, so that reading it back takes few calls.
constexpr std::size_t kPartsMax = 64;

// `before`: the size of the buffer that becomes too small, if there is one.
std::size_t capacity_for(std::uint64_t block, std::uint32_t end, std::size_t before = 0) {
  if (block > 0) return kStagedBlockSize;
  const std::size_t pages = (end + kSmallestBuffer - 1) / kSmallestBuffer * kSmallestBuffer;
  return std::min<std::size_t>(std::max({pages, 2 * before, kSmallestBuffer}), kStagedBlockSize);
}

std::shared_ptr<const void> pin_of(const std::shared_ptr<StagedBuffer>& buffer) {
  buffer->pins.fetch_add(1, std::memory_order_relaxed);
  return {buffer->data(), [buffer](const void*) { buffer->pins.fetch_sub(1, std::memory_order_release); }};
}

bool is_pinned(const StagedBuffer& buffer) { return buffer.pins.load(std::memory_order_acquire) > 0; }

const std::byte* zeros() {
  // Not const: then the program's file would have a megabyte of zeros.
  static std::array<std::byte, kStagedBlockSize> block{};
  return block.data();
}

}  // namespace

class StagedBytes::Turn {
 public:
  explicit Turn(StagedBytes& file) : file_(file) {
    Lock lock(file_.mutex_);
    while (file_.turn_taken_) file_.turn_over_.wait(file_.mutex_);
    file_.turn_taken_ = true;
  }
  ~Turn() {
    Lock lock(file_.mutex_);
    file_.turn_taken_ = false;
    file_.turn_over_.notify_one();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  StagedBytes& file_;
};

StagedBytes::StagedBytes(std::uint64_t id, std::shared_ptr<Journal> journal, StagingMemory& memory)
    : id_(id), memory_(memory), journal_(std::move(journal)) {}

std::shared_ptr<StagedBytes> StagedBytes::create(std::uint64_t id, std::shared_ptr<Journal> journal,
                                                 StagingMemory& memory) {
  std::shared_ptr<StagedBytes> file(new StagedBytes(id, std::move(journal), memory));
  memory.add(file);
  return file;
}

void StagedBytes::limit_to(std::uint64_t bytes) {
  Lock lock(mutex_);
  limit_ = bytes;
}

std::uint64_t StagedBytes::size() const {
  Lock lock(mutex_);
  return size_;
}

Result<> StagedBytes::check_writable(std::uint64_t offset, std::uint64_t size) const {
  const bool is_beyond = offset > kSizeMax || size > kSizeMax - offset;
  // Bytes that adjoin the existing ones are always allowed: whether there is room for them depends on how well they
  // compress.
  const bool is_claim = offset > size_;
  if (is_beyond || (is_claim && offset + size > dropped_ && offset + size - dropped_ > limit_)) return file_too_large();
  if (offset < dropped_) return not_permitted("committed entries cannot be changed");
  return {};
}

StagedBytes::Need StagedBytes::need_of(std::uint64_t number, BlockRange range) const {
  const auto found = blocks_.find(number);
  if (found == blocks_.end()) return {false, capacity_for(number, range.end)};
  const StagedBlock& block = found->second;
  if (block.buffer) {
    const std::uint32_t end = std::max(block.used, range.end);
    const std::size_t size = block.buffer->size();
    if (size < end) return {false, capacity_for(number, end, size)};
    return {false, is_pinned(*block.buffer) ? size : 0};
  }
  const bool covered =
      block.parts.empty() || (range.begin <= block.parts.front().begin && range.end >= block.parts.back().end);
  return {!covered, capacity_for(number, range.end)};
}

// Writes into a block for which need_of() requires no loading, and a buffer no larger than `fresh`. Returns the buffer
// that is no longer needed.
std::shared_ptr<StagedBuffer> StagedBytes::put(std::uint64_t number, BlockRange range, std::span<const std::byte> bytes,
                                               std::shared_ptr<StagedBuffer> fresh) {
  const bool replace = need_of(number, range).capacity > 0;
  auto [found, made] = blocks_.try_emplace(number);
  StagedBlock& block = found->second;
  if (made) block.serial = memory_.next_stamp();
  if (!block.buffer) block.used = 0;
  if (replace) {
    if (block.buffer) std::memcpy(fresh->data(), block.buffer->data(), block.used);
    std::swap(block.buffer, fresh);
  }
  std::byte* const data = block.buffer->data();
  if (range.begin > block.used) std::memset(data + block.used, 0, range.begin - block.used);
  std::memcpy(data + range.begin, bytes.data(), bytes.size());
  block.used = std::max(block.used, range.end);
  block.dirty.include(range);
  block.last_write = memory_.next_stamp();
  size_ = std::max(size_, number * kStagedBlockSize + range.end);
  return fresh;
}

// Reads a block back from the journal, unless it has changed meanwhile.
Result<> StagedBytes::load(std::uint64_t number) {
  std::vector<JournaledPart> parts;
  std::uint64_t serial = 0;
  std::shared_ptr<Journal> from;
  {
    Lock lock(mutex_);
    from = journal_;
    const auto found = blocks_.find(number);
    if (found == blocks_.end() || found->second.buffer || found->second.parts.empty()) return {};
    parts = found->second.parts;
    serial = found->second.serial;
  }
  const std::uint32_t end = parts.back().end;
  const std::size_t capacity = capacity_for(number, end);
  TRY_VOID(memory_.make_room(capacity));
  auto buffer = memory_.buffer(capacity);
  std::uint32_t done = 0;
  for (const JournaledPart& part : parts) {
    std::memset(buffer->data() + done, 0, part.begin - done);
    const std::size_t size = part.end - part.begin;
    TRY_VOID(from->read({part.at, size}, {buffer->data() + part.begin, size}));
    done = part.end;
  }
  Lock lock(mutex_);
  const auto found = blocks_.find(number);
  if (found == blocks_.end() || found->second.serial != serial || found->second.buffer ||
      found->second.parts != parts) {
    return {};
  }
  found->second.buffer = std::move(buffer);
  found->second.used = end;
  found->second.last_write = memory_.next_stamp();
  return {};
}

Result<> StagedBytes::truncate(std::uint64_t size) {
  std::vector<std::shared_ptr<StagedBuffer>> dead;
  Lock lock(mutex_);
  if (size < frozen_) return busy("these bytes are being committed");
  TRY_VOID(check_writable(size, 0));
  if (size < size_) {
    lowest_size_ = std::min(lowest_size_, size);
    const auto cut_at = static_cast<std::uint32_t>(size % kStagedBlockSize);
    const auto gone = blocks_.lower_bound(size / kStagedBlockSize + (cut_at > 0 ? 1 : 0));
    for (auto each = gone; each != blocks_.end(); ++each) dead.push_back(std::move(each->second.buffer));
    blocks_.erase(gone, blocks_.end());
    if (const auto last = blocks_.find(size / kStagedBlockSize); cut_at > 0 && last != blocks_.end()) {
      StagedBlock& block = last->second;
      cut_parts(block.parts, cut_at);
      block.used = std::min(block.used, cut_at);
      block.dirty.cut(cut_at);
      block.in_flight.cut(cut_at);
    }
  }
  size_ = size;
  return {};
}

StagedBytes::Runs StagedBytes::runs_of(std::uint64_t begin, std::uint64_t end) const {
  Runs found;
  found.journal = journal_;
  const auto add = [&](std::uint64_t size, const std::byte* memory, std::optional<std::uint64_t> at) {
    if (size > 0) found.runs.push_back({static_cast<std::size_t>(size), memory, at});
  };
  for (const auto& [number, range, before] : pieces_of(begin, end - begin)) {
    const auto at = blocks_.find(number);
    std::uint32_t done = range.begin;
    if (at != blocks_.end() && at->second.buffer) {
      const std::uint32_t used = std::min(at->second.used, range.end);
      if (used > done) {
        add(used - done, at->second.buffer->data() + done, {});
        found.pins.push_back(pin_of(at->second.buffer));
        done = used;
      }
    } else if (at != blocks_.end()) {
      for (const JournaledPart& part : at->second.parts) {
        const std::uint32_t from = std::max(part.begin, done), to = std::min(part.end, range.end);
        if (from >= to) continue;
        add(from - done, nullptr, {});
        add(to - from, nullptr, part.at + (from - part.begin));
        done = to;
      }
    }
    add(range.end - done, nullptr, {});
  }
  return found;
}

Result<std::size_t> StagedBytes::read(std::uint64_t offset, std::span<std::byte> into) const {
  Runs found;
  {
    Lock lock(mutex_);
    if (offset >= size_ || into.empty()) return 0;
    if (offset < dropped_)
      return tfile::fail(ErrorKind::denied, "these bytes are already committed and no longer staged");
    found = runs_of(offset, offset + std::min<std::uint64_t>(into.size(), size_ - offset));
  }
  std::size_t done = 0;
  for (const Run& run : found.runs) {
    const auto to = into.subspan(done, run.size);
    if (run.at) {
      TRY_VOID(found.journal->read({*run.at, run.size}, to));
    } else if (run.memory) {
      std::memcpy(to.data(), run.memory, run.size);
    } else {
      std::memset(to.data(), 0, run.size);
    }
    done += run.size;
  }
  return done;
}

std::optional<Slices> StagedBytes::pin(std::uint64_t offset, std::size_t size) const {
  Runs found;
  {
    Lock lock(mutex_);
    if (offset >= size_ || size == 0) return Slices{};
    if (offset < dropped_) return std::nullopt;
    found = runs_of(offset, offset + std::min<std::uint64_t>(size, size_ - offset));
  }
  Slices slices;
  slices.pins = std::move(found.pins);
  for (const Run& run : found.runs) {
    if (run.at) return std::nullopt;
    slices.pieces.emplace_back(run.memory ? run.memory : zeros(), run.size);
  }
  return slices;
}

std::shared_ptr<Journal> StagedBytes::journal() const {
  Lock lock(mutex_);
  return journal_;
}

StagedBytes::Flight StagedBytes::take_off(std::uint64_t number, StagedBlock& block, BlockRange range) {
  block.in_flight = range;
  block.dirty = {};
  return {number, block.serial, range, block.buffer, pin_of(block.buffer)};
}

// If a truncation has cut off bytes meanwhile, these no longer belong to the block.
Result<> StagedBytes::append(const Flight& flight) {
  const std::uint64_t offset = flight.block * kStagedBlockSize + flight.range.begin;
  TRY(const ByteRange location,
      journal()->append_data(id_, offset, {flight.buffer->data() + flight.range.begin, flight.range.size()}));
  Lock lock(mutex_);
  journaled_size_ = std::max(journaled_size_, offset + flight.range.size());
  const auto found = blocks_.find(flight.block);
  if (found == blocks_.end() || found->second.serial != flight.serial) return {};
  StagedBlock& block = found->second;
  add_part(block.parts, {flight.range.begin, block.in_flight.end, location.begin});
  block.in_flight = {};
  return {};
}

void StagedBytes::turn_back(const Flight& flight) {
  Lock lock(mutex_);
  const auto found = blocks_.find(flight.block);
  if (found == blocks_.end() || found->second.serial != flight.serial) return;
  found->second.dirty.include(found->second.in_flight);
  found->second.in_flight = {};
}

// Appends a record of the lowest size since the last one, if this cuts off bytes in the journal. Otherwise old bytes
// could appear in gaps between those that were written behind that size since.
Result<> StagedBytes::append_truncation(std::uint64_t lowest) {
  {
    Lock lock(mutex_);
    lowest = std::max(lowest, dropped_);  // committed bytes are not cut off, even if the journal has some of them
    if (lowest >= journaled_size_) return {};
  }
  auto reply = journal()->append({.kind = JournalKind::truncate, .id = id_, .offset = lowest});
  Lock lock(mutex_);
  if (reply)
    journaled_size_ = lowest;
  else
    lowest_size_ = std::min(lowest_size_, lowest);
  return reply;
}

Result<> StagedBytes::journal_dirty() {
  Turn turn(*this);
  auto done = append_dirty();
  Lock lock(mutex_);
  journal_refused_ = !done;
  return done;
}

Result<> StagedBytes::journal_cut() {
  Turn turn(*this);
  std::uint64_t lowest = 0;
  {
    Lock lock(mutex_);
    lowest = std::exchange(lowest_size_, size_);
  }
  return append_truncation(lowest);
}

bool StagedBytes::journal_refused() const {
  Lock lock(mutex_);
  return journal_refused_;
}

Result<> StagedBytes::append_dirty() {
  std::vector<Flight> flights;
  std::uint64_t size = 0, lowest = 0;
  {
    Lock lock(mutex_);
    size = size_;
    lowest = std::exchange(lowest_size_, size_);
    for (auto& [number, block] : blocks_)
      if (!block.dirty.empty()) flights.push_back(take_off(number, block, block.dirty));
  }
  Result<> done = append_truncation(lowest);
  for (const Flight& flight : flights) {
    if (done) done = append(flight);
    if (!done) turn_back(flight);
  }
  if (!done) return done;
  {
    Lock lock(mutex_);
    if (journaled_size_ == size) return {};
  }
  TRY_VOID(journal()->append({.kind = JournalKind::truncate, .id = id_, .offset = size}));
  Lock lock(mutex_);
  journaled_size_ = size;
  return {};
}

std::uint64_t StagedBytes::dirty_bytes() const {
  std::uint64_t bytes = 0;
  Lock lock(mutex_);
  for (const auto& [number, block] : blocks_) {
    BlockRange range = block.in_flight;
    range.include(block.dirty);
    bytes += range.size();
  }
  return bytes;
}

bool StagedBytes::is_cut() const {
  Lock lock(mutex_);
  return std::max(lowest_size_, dropped_) < journaled_size_;
}

bool StagedBytes::is_journaled() const {
  Lock lock(mutex_);
  return journaled_size_ == size_ && lowest_size_ == size_ && std::ranges::none_of(blocks_, [](const auto& each) {
           return !each.second.dirty.empty() || !each.second.in_flight.empty();
         });
}

Result<> StagedBytes::restore(std::uint64_t offset, ByteRange location) {
  if (offset > kSizeMax || location.size > kSizeMax - offset)
    return tfile::fail(ErrorKind::damaged,
                       "journal: " + std::to_string(location.size) + " staged bytes at offset " +
                           std::to_string(offset) + ", possible are " + std::to_string(kSizeMax),
                       static_cast<std::int64_t>(location.begin));
  Lock lock(mutex_);
  for (const auto& [number, range, done] : pieces_of(offset, location.size)) {
    auto [found, made] = blocks_.try_emplace(number);
    TFILE_DCHECK(!found->second.buffer);
    if (made) found->second.serial = memory_.next_stamp();
    add_part(found->second.parts, {range.begin, range.end, location.begin + done});
  }
  if (location.size > 0) size_ = std::max(size_, offset + location.size);
  return {};
}

void StagedBytes::replayed() {
  Lock lock(mutex_);
  lowest_size_ = journaled_size_ = size_;
}

void StagedBytes::drop_before(std::uint64_t offset) {
  std::vector<std::shared_ptr<StagedBuffer>> dead;
  Lock lock(mutex_);
  dropped_ = std::max(dropped_, std::min(offset, size_));
  const auto kept = blocks_.lower_bound(dropped_ / kStagedBlockSize);
  for (auto each = blocks_.begin(); each != kept; ++each) dead.push_back(std::move(each->second.buffer));
  blocks_.erase(blocks_.begin(), kept);
}

std::uint64_t StagedBytes::freeze(bool end) {
  Lock lock(mutex_);
  frozen_ = end ? std::numeric_limits<std::uint64_t>::max() : size_;
  return size_;
}

bool StagedBytes::is_frozen() const {
  Lock lock(mutex_);
  return frozen_ > 0;
}

std::uint64_t StagedBytes::journaled_bytes() const {
  std::uint64_t bytes = 0;
  Lock lock(mutex_);
  for (const auto& [number, block] : blocks_) {
    for (const JournaledPart& part : block.parts) bytes += part.end - part.begin;
  }
  return bytes;
}

Result<std::unique_ptr<StagedBytes::Move>> StagedBytes::copy_to(const std::shared_ptr<Journal>& to) {
  std::unique_ptr<Move> move(new Move(*this, to));
  TRY_VOID(move->copy());
  return move;
}

StagedBytes::Move::Move(StagedBytes& file, std::shared_ptr<Journal> to)
    : file_(file), turn_(std::make_unique<Turn>(file)), from_(file.journal()), to_(std::move(to)) {}

StagedBytes::Move::~Move() = default;

// A truncation without a record yet counts: the parts no longer have the bytes that it cut off.
Result<> StagedBytes::Move::copy() {
  std::map<std::uint64_t, std::vector<JournaledPart>> old;
  {
    Lock lock(file_.mutex_);
    size_ = std::max(std::min(file_.journaled_size_, file_.lowest_size_), file_.dropped_);
    for (const auto& [number, block] : file_.blocks_) old[number] = block.parts;
  }
  for (const auto& [number, parts] : old) {
    for (const JournaledPart& part : parts) TRY_VOID(copy_part(number, part));
  }
  return to_->append({.kind = JournalKind::truncate, .id = file_.id_, .offset = size_});
}

Result<> StagedBytes::Move::copy_part(std::uint64_t block, const JournaledPart& part) {
  std::vector<std::byte> bytes(part.end - part.begin);
  TRY_VOID(from_->read({part.at, bytes.size()}, bytes));
  TRY(const ByteRange location, to_->append_data(file_.id_, block * kStagedBlockSize + part.begin, bytes));
  parts_[block].push_back({part.begin, part.end, location.begin});
  return {};
}

void StagedBytes::Move::settle() {
  Lock lock(file_.mutex_);
  for (auto& [number, block] : file_.blocks_) {
    const auto moved = parts_.find(number);
    block.parts = moved == parts_.end() ? std::vector<JournaledPart>() : std::move(moved->second);
  }
  file_.journaled_size_ = size_;
  file_.lowest_size_ = std::max(file_.lowest_size_, size_);  // a lower size before this is part of the copied state
  file_.journal_ = to_;
}

void StagedBytes::list_spillable(std::vector<Spillable>& into) const {
  Lock lock(mutex_);
  for (const auto& [number, block] : blocks_)
    if (block.buffer && !is_pinned(*block.buffer)) into.push_back({block.last_write, number, block.buffer->size()});
}

Result<std::uint64_t> StagedBytes::spill(const Spillable& wanted) {
  Turn turn(*this);
  std::shared_ptr<StagedBuffer> dead;
  Flight flight;
  std::uint64_t lowest = 0;
  {
    Lock lock(mutex_);
    const auto found = blocks_.find(wanted.block);
    if (found == blocks_.end()) return 0;
    StagedBlock& block = found->second;
    if (block.last_write != wanted.last_write || !block.buffer || is_pinned(*block.buffer)) return 0;
    const bool scattered = block.parts.size() > kPartsMax;
    if (block.dirty.empty() && !scattered) {
      dead = std::move(block.buffer);
      return wanted.bytes;
    }
    lowest = std::exchange(lowest_size_, size_);
    flight = take_off(wanted.block, block, scattered ? BlockRange{0, block.used} : block.dirty);
  }
  Result<> done = append_truncation(lowest);
  if (done) done = append(flight);
  if (!done) {
    turn_back(flight);
    return tl::unexpected(done.error());
  }
  flight.pin.reset();
  Lock lock(mutex_);
  const auto found = blocks_.find(wanted.block);
  if (found == blocks_.end() || found->second.serial != flight.serial) return wanted.bytes;
  if (found->second.last_write != wanted.last_write || !found->second.buffer) return 0;
  dead = std::move(found->second.buffer);
  return wanted.bytes;
}

}  // namespace tfilefs
