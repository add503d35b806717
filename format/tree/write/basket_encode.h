// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/part_sizes.h"
#include "tfile/writer.h"
#include "tree/write/branch_form.h"

namespace tfile {

// The fields of the keys of a tree and its baskets.
struct TreePlace {
  std::uint64_t directory_seek = 0;  // fSeekPdir of its baskets: always the file's root directory
  std::string name, title;           // of the tree
  Compression compression;
  std::uint32_t datime = 0;  // TDatime in the keys of its baskets
};

// Encodes one basket (docs/format.md, "Baskets"), compressed: key, header, and entries `entries` of `branch`. `columns`
// as in TableWriter::encode. Pure; for any thread. Errors: invalid, with the entry;
// no_space.
Result<Part> encode_basket(const WrittenBranch& branch, const TreePlace& place, EntryRange entries,
                           std::span<const std::span<const std::byte>> columns);

// The entries of a basket of about 128 KiB: a power of two; 0: unknown. Pure.
std::int64_t basket_entries(const EntryBytes&);

// fBasketSize for baskets of `entries` entries, rounded as in ROOT's OptimizeBaskets. Pure.
std::int32_t basket_buffer_size(const EntryBytes&, std::int64_t entries);

// Writes the address of a basket into its key.
void put_basket_address(Part& basket, std::uint64_t address);

// fKeylen of a basket whose key has that name and title.
std::size_t basket_keylen(std::string_view branch_name, std::string_view title);

}  // namespace tfile
