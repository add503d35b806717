// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/chunk.h"
#include "tfile/file.h"
#include "tfile/kept_entries.h"
#include "tfile/result.h"
#include "tfile/writer.h"

namespace tfile {

// How a table is copied.
struct CopyOptions {
  std::optional<Compression> compression;                       // nothing: as it is stored
  std::uint64_t cluster_bytes = 0;                              // compressed, of new clusters; 0: the clusters stay
  std::function<bool(std::string_view)> keeps_field = nullptr;  // by top-level branch or field; none: all
  std::uint64_t cut_memory = 16 << 20;                          // of decompressed baskets that are cut further
};

// A table that is made of stored units (baskets, pages) of tables in other files, without a look at what they mean. So
// every type passes. Tables are added one after the other; each is written before the next one is added. encode() is
// const and pure, for any thread; all other functions are for one thread.
class TableCopy {
 public:
  virtual ~TableCopy() = default;

  // Adds the table of a key; all of it, or only these entries. Its units are then those to be written. Branches that
  // cannot go along are left out: left_out() tells why. The first table gives the form; the others must have the same.
  // Errors: unsupported (nothing of it can be copied so; its branches are others than those of the first), damaged, io.
  // Blocks.
  virtual Result<> add_table(std::shared_ptr<const File>, const KeyInfo&, const KeptEntries*) = 0;
  virtual const std::vector<std::string>& left_out() const = 0;

  // The units to write of the table that was added last, in the order of places in the new file.
  struct Unit {
    std::vector<Locator> inputs;  // stored bytes of which it is made
    std::uint64_t raw_bytes = 0;  // about, decompressed
    EntryRange entries;           // of the table, in which it lies
  };
  virtual std::size_t unit_count() const = 0;
  virtual Unit unit(std::size_t) const = 0;
  // The owner of a unit, for messages: "branch Muon_pt".
  virtual std::string name_of_unit(std::size_t) const = 0;

  // `stored`: the bytes of each input. The result has one contiguous piece of the new file. Errors: damaged,
  // unsupported, no_space.
  virtual Result<Part> encode(std::size_t unit, std::span<const std::span<const std::byte>> stored) const = 0;
  // Adds a unit that will be written to `address`, and puts the address into it. All units, in order. Errors:
  // unsupported (an address that this unit has no room for).
  virtual Result<> add_unit(std::size_t unit, Part&, std::uint64_t address) = 0;
  // All units of the table were added.
  virtual Result<> end_table() = 0;
};

}  // namespace tfile
