// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "exec/thread_pool.h"
#include "reply.h"
#include "table_build/file_writes.h"
#include "tfile/table_copy.h"
#include "tfile/writer.h"

namespace tfilefs {

// Where units of tables go, and who does the work.
struct UnitSink {
  tfile::FileWriter& places;
  FileWrites* file = nullptr;  // not needed to try units
  ThreadPool& reader;          // of one thread, which reads ahead
  ThreadPool& coders;          // encode
  std::uint64_t memory = 0;
  std::stop_token stop;
  std::function<void(std::uint64_t)> done;  // stored bytes of units, read and written
};

// Writes all units of the table that was added last. Reads the sources once, in the order of the units, many units
// together. Returns the stored bytes that were written. Blocks. Errors: damaged and others of reading, with the name of
// the unit; those of writing; ECANCELED.
Result<std::uint64_t> copy_units(tfile::TableCopy&, const UnitSink&);

// The same without writing: what would be damaged. Each is told with its entries.
Result<> try_units(tfile::TableCopy&, const UnitSink&,
                   const std::function<void(tfile::EntryRange, const Error&)>& damaged);

}  // namespace tfilefs
