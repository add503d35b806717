// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "staging/overlay/staging_memory.h"

namespace tfilefs {

inline constexpr std::uint64_t kStagedBlockSize = 1 << 20;

// Part of a block that the journal holds: bytes [begin, end) of the block lie at `at` in the journal.
struct JournaledPart {
  std::uint32_t begin = 0, end = 0;
  std::uint64_t at = 0;
  friend bool operator==(const JournaledPart&, const JournaledPart&) = default;
};

// Bytes of a block, half-open; empty when begin >= end.
struct BlockRange {
  std::uint32_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
  std::uint32_t size() const { return empty() ? 0 : end - begin; }
  void include(BlockRange);
  void cut(std::uint32_t at);  // drops the bytes from `at` on
  friend bool operator==(const BlockRange&, const BlockRange&) = default;
};

// 1 MiB of a staged file. With a buffer, its bytes are [0, used) of it and zeros behind; without one, they are those of
// the parts in the journal and zeros elsewhere. The parts together with `dirty` and `in_flight` always describe the
// content: a byte outside both ranges is that of the parts (or 0).
struct StagedBlock {
  std::shared_ptr<StagedBuffer> buffer;
  std::uint32_t used = 0;
  std::vector<JournaledPart> parts;  // sorted, without overlap
  BlockRange dirty;                  // not in the journal in its present form
  BlockRange in_flight;              // being appended now; bytes written meanwhile become dirty again
  std::uint64_t last_write = 0;      // stamp
  std::uint64_t serial = 0;          // distinguishes a block from a later one at the same place
};

// The part of a byte range that lies in one block; `done` bytes of the range come before it.
struct BlockPiece {
  std::uint64_t block = 0;
  BlockRange range;
  std::uint64_t done = 0;
};
std::vector<BlockPiece> pieces_of(std::uint64_t offset, std::uint64_t size);

// Adds `part`; its bytes replace those that it overlaps.
void add_part(std::vector<JournaledPart>&, JournaledPart part);
// Drops the bytes from `at` on.
void cut_parts(std::vector<JournaledPart>&, std::uint32_t at);

}  // namespace tfilefs
