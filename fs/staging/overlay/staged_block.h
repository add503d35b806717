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
  void cut(std::uint32_t at);  // drops what lies at `at` and beyond
  friend bool operator==(const BlockRange&, const BlockRange&) = default;
};

// 1 MiB of a staged file. With a buffer, its bytes are [0, used) of it and zeros behind; without one, they are what the
// journal's parts say and zeros elsewhere. The parts together with `dirty` and `in_flight` always describe the content:
// a byte outside both ranges is the parts' (or 0).
struct StagedBlock {
  std::shared_ptr<StagedBuffer> buffer;
  std::uint32_t used = 0;
  std::vector<JournaledPart> parts;  // sorted, apart
  BlockRange dirty;                  // not in the journal in its present form
  BlockRange in_flight;              // being appended now; what is written meanwhile is dirty again
  std::uint64_t last_write = 0;      // stamp
  std::uint64_t serial = 0;          // tells a block from a later one in the same place
};

// What a stretch of bytes takes of one block; `done` bytes of it lie before.
struct BlockPiece {
  std::uint64_t block = 0;
  BlockRange range;
  std::uint64_t done = 0;
};
std::vector<BlockPiece> pieces_of(std::uint64_t offset, std::uint64_t size);

// Lays `part` over those that are there.
void add_part(std::vector<JournaledPart>&, JournaledPart part);
// Drops what lies at `at` and beyond.
void cut_parts(std::vector<JournaledPart>&, std::uint32_t at);

}  // namespace tfilefs
