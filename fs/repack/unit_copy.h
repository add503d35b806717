// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "repack/table_work.h"
#include "reply.h"
#include "tfile/range.h"
#include "tfile/table_copy.h"

namespace tfilefs {

// The size of the inputs of a unit.
std::uint64_t stored_bytes(const tfile::TableCopy::Unit&);

// Writes all units of the table that was added last. Reads the sources once, in the order of the units, many units
// together. `done`: stored bytes of units that were read and written. Returns the stored bytes that were written.
// Blocks. Errors: damaged and others of reading, with the name of the unit; those of writing; ECANCELED.
Result<std::uint64_t> copy_units(tfile::TableCopy&, const TableWork&, const std::function<void(std::uint64_t)>& done);

// The same without writing: what would be damaged. Each is told with its entries.
Result<> try_units(tfile::TableCopy&, const TableWork&,
                   const std::function<void(tfile::EntryRange, const Error&)>& damaged);

}  // namespace tfilefs
