// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "query/query_program.h"
#include "reply.h"
#include "tfile/range.h"

namespace tfilefs {

// The items of a column from item `first` on, little-endian.
struct BlockItems {
  std::int64_t first = 0;
  std::span<const std::byte> bytes;
};

// The begin of a level's elements in the one at place `at`, and how many there are. Lists outside of the block have
// none, and so has a place below 0.
std::pair<std::int64_t, std::int64_t> elements_at(std::span<const BlockItems>, const QueryPath::Level&,
                                                  std::int64_t at);

// More iterations an entry cannot have.
inline constexpr std::size_t kIterationsMax = 8 << 20;

// The iterations that entries of a block have together, and where the items of each path are in them.
class IterationSpace {
 public:
  // Errors: unsupported (more iterations than `most`), damaged (offsets that are not there).
  Result<> fill(const QuerySpace&, tfile::EntryRange block, std::span<const BlockItems>, std::size_t most);

  // How many an entry has, if their places can be computed from any of them on: nothing if lists of lists are gone
  // through, or columns end before it.
  static std::optional<std::uint64_t> count_of(const QuerySpace&, std::int64_t entry, std::span<const BlockItems>);
  // So many of them, of `of`, from this one on.
  void fill_piece(const QuerySpace&, std::int64_t entry, std::span<const BlockItems>, std::size_t from,
                  std::size_t size, std::size_t of);

  std::size_t count() const { return entry_.size(); }
  std::uint64_t bytes() const;  // that it takes
  // How many an entry has, also those that are not here, and how many of it are before.
  std::size_t count_of_entry(std::size_t n) const { return whole_ > 0 ? whole_ : first_[n + 1] - first_[n]; }
  std::size_t skipped() const { return skipped_; }
  bool is_plain() const { return is_plain_; }                        // each entry has one
  std::span<const std::uint32_t> entries() const { return entry_; }  // in the block
  // By entry, and one more: its first iteration.
  std::span<const std::uint32_t> firsts() const { return first_; }

  // By path: the item for each iteration, or for each entry if the path is one of entries; -1: there is none. Before an
  // index that is computed: the list or array that it is in.
  std::span<const std::int64_t> places(std::size_t path) const { return places_[path]; }
  // Whether these are items that follow each other.
  bool is_run(std::size_t path) const { return is_run_[path] != 0; }

 private:
  using Inputs = std::span<const BlockItems>;
  bool fill_lists(const QuerySpace&, tfile::EntryRange block, Inputs, std::size_t most);
  bool count_elements(const QuerySpace&, tfile::EntryRange block, Inputs, std::size_t most);
  std::size_t repeat_entries(std::size_t entries);
  bool place_elements(const QueryPath::Level&, tfile::EntryRange block, Inputs, std::span<std::int64_t> places) const;
  std::size_t level_of(const QueryPath&, std::size_t from, Inputs, std::vector<std::int64_t>& places) const;
  Result<bool> expand(const QuerySpace&, Inputs, std::size_t most);
  Result<> expand_nodes(const QuerySpace&, Inputs, std::size_t most);
  void drop_absent(const QuerySpace&);
  void index_entries(std::size_t entries);

  bool is_plain_ = false;
  std::size_t skipped_ = 0, whole_ = 0;  // of a piece
  std::vector<std::uint32_t> entry_, first_, counts_;
  std::vector<std::vector<std::int64_t>> places_;
  std::vector<std::uint8_t> is_run_;
  std::vector<std::size_t> levels_;  // by path: how many are behind
};

}  // namespace tfilefs
