// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cache/budget.h"
#include "tfile/range.h"
#include "view/friends/matched_entries.h"

namespace tfilefs {

// Entries that are kept of a table, as the entries of another one: a bit for each. Const once it is finished.
class KeptBits final : public MatchedEntries {
 public:
  // `of`: entries of the table. `memory`: that of memory_of().
  KeptBits(std::int64_t of, Budget::Reservation memory);
  static std::uint64_t memory_of(std::int64_t entries) { return (static_cast<std::uint64_t>(entries) + 63) / 64 * 8; }

  // The entries of a block whose bits are set, the first one in the lowest bit. Bits behind the block are 0.
  void keep(tfile::EntryRange block, std::span<const std::uint64_t> bits);
  // After that nothing is kept any more.
  void finish();

  // How many of the entries before each of these, which are ascending, are kept.
  std::vector<std::int64_t> kept_before(std::span<const std::int64_t> entries) const;

  std::int64_t entries() const override { return kept_; }
  std::int64_t matched() const override { return kept_; }
  std::size_t block_count() const override { return blocks_.size(); }
  RunBlock block(std::size_t number, std::vector<EntryRun>& made) const override;
  std::size_t block_of(std::int64_t matched) const override;
  std::int64_t friend_entry(std::int64_t entry) const override;
  std::int64_t matched_before(std::int64_t entry) const override { return entry < kept_ ? entry : kept_; }

 private:
  std::int64_t next(std::int64_t from, bool kept) const;

  struct Block {
    std::int64_t begin = 0;   // the entry of the table where its first run begins
    std::int64_t before = 0;  // kept entries before it
  };
  const std::int64_t of_;
  const Budget::Reservation memory_;
  std::vector<std::uint64_t> words_;
  std::vector<Block> blocks_;
  std::int64_t kept_ = 0;
};

}  // namespace tfilefs
