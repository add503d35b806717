// SPDX-License-Identifier: Apache-2.0
#include "staging/overlay/staging_memory.h"

#include <algorithm>

#include "staging/overlay/staged_bytes.h"

namespace tfilefs {
namespace {

// The least that is spilled at a time (and at most an eighth of the limit): finding the oldest blocks looks at all of
// them.
constexpr std::uint64_t kSpillAtOnce = 16u << 20;

}  // namespace

StagedBuffer::StagedBuffer(std::atomic<std::uint64_t>& in_use, Budget::Reservation reservation, std::size_t size)
    : in_use_(in_use), reservation_(std::move(reservation)), bytes_(size) {
  in_use_ += size;
}

StagedBuffer::~StagedBuffer() { in_use_ -= bytes_.size(); }

StagingMemory::StagingMemory(std::shared_ptr<Budget> budget, std::uint64_t limit, SerialQueues& serial_queues)
    : budget_(std::move(budget)), limit_(limit), queues_(serial_queues) {}

std::shared_ptr<StagedBuffer> StagingMemory::buffer(std::size_t size) {
  return std::make_shared<StagedBuffer>(in_use_, budget_->take(size), size);
}

void StagingMemory::add(std::weak_ptr<StagedBytes> file) {
  Lock lock(mutex_);
  if (files_.size() >= sweep_at_) {
    std::erase_if(files_, [](const auto& each) { return each.expired(); });
    sweep_at_ = 2 * files_.size() + 64;  // so that the cost per file does not depend on their number
  }
  files_.push_back(std::move(file));
}

std::vector<std::shared_ptr<StagedBytes>> StagingMemory::files() {
  std::vector<std::shared_ptr<StagedBytes>> alive;
  Lock lock(mutex_);
  for (const auto& each : files_)
    if (auto file = each.lock()) alive.push_back(std::move(file));
  return alive;
}

tfile::Result<> StagingMemory::make_room(std::uint64_t bytes) {
  if (has_room(bytes)) return {};
  begin_turn();
  tfile::Result<std::uint64_t> freed = 1;
  while (freed && *freed > 0 && !has_room(bytes))
    freed = spill_oldest(std::max(in_use() + bytes - limit_, std::min(kSpillAtOnce, limit_ / 8)));
  end_turn();
  if (!freed) return tl::unexpected(freed.error());
  return {};
}

tfile::Result<std::uint64_t> StagingMemory::spill(std::uint64_t bytes) {
  begin_turn();
  auto freed = spill_oldest(bytes);
  end_turn();
  return freed;
}

void StagingMemory::begin_turn() {
  Lock lock(mutex_);
  while (spilling_) spilled_.wait(mutex_);
  spilling_ = true;
}

void StagingMemory::end_turn() {
  Lock lock(mutex_);
  spilling_ = false;
  spilled_.notify_all();
}

tfile::Result<std::uint64_t> StagingMemory::spill_oldest(std::uint64_t bytes) {
  struct Candidate {
    StagedBytes::Spillable block;
    StagedBytes* file;
  };
  const auto alive = files();
  std::vector<Candidate> candidates;
  std::vector<StagedBytes::Spillable> blocks;
  for (const auto& file : alive) {
    blocks.clear();
    file->list_spillable(blocks);
    for (const auto& block : blocks) candidates.push_back({block, file.get()});
  }
  std::ranges::sort(candidates, {}, [](const Candidate& each) { return each.block.last_write; });
  std::uint64_t freed = 0;
  for (const Candidate& each : candidates) {
    if (freed >= bytes) break;
    TRY(const std::uint64_t more, each.file->spill(each.block));
    freed += more;
  }
  return freed;
}

}  // namespace tfilefs
