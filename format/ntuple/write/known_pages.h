// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "ntuple/schema_records.h"
#include "tfile/range.h"
#include "tfile/source.h"
#include "tfile/writer.h"

namespace tfile {

// Pages that an RNTuple has in its file, or gets with the next commit: a page of the same bytes needs no place of its
// own. Pages are never freed or moved, so a page of an earlier commit stays where it is. A commit that fails takes its
// writer with it, and so what it would have stored. For one thread.
class KnownPages {
 public:
  // Pages as large as that are known in all clusters, smaller ones in the present one: another read takes a reader
  // longer than their bytes.
  static constexpr std::uint64_t kSharedMin = 4096;
  // So many of these are known, at least half as many of the last ones: 4 MB of memory, for 256 MB of the file or more.
  static constexpr std::size_t kSharedMax = 1 << 16;

  // Adds a page of the file as it was opened, with its checksum behind it. Of those of a column that have the same
  // size, the first one stays.
  void add_former(ColumnNumber, ByteRange);
  // Adds a page that has its address.
  void add(const Part::Unit&);
  // The address of a page with the same bytes; 0: there is none. `stored`: these bytes, and their checksum. `file`:
  // that of the former pages, from which one of the same size is read, its bytes only if the checksums are equal.
  // Blocks.
  std::uint64_t address_of(const Part::Unit&, std::span<const std::byte> stored, const Source* file);
  void end_cluster();

 private:
  using Identity = std::array<std::uint64_t, 3>;  // hash and size
  struct HashOf {
    std::size_t operator()(const Identity& page) const { return page[0]; }
  };
  using Pages = std::unordered_map<Identity, std::uint64_t, HashOf>;
  static Identity identity_of(const Part::Unit& unit) { return {unit.hash[0], unit.hash[1], unit.size}; }
  void remember(const Identity&, std::uint64_t address);

  Pages small_;                                                             // of the present cluster
  Pages recent_, older_;                                                    // the others
  std::map<std::pair<ColumnNumber, std::uint64_t>, std::uint64_t> former_;  // by column and size
};

}  // namespace tfile
