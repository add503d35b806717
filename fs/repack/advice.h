// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reply.h"
#include "tfile/source.h"

namespace tfilefs {

// How a table lies in its file, and what repacking would bring.
struct TableAdvice {
  std::string path, kind;  // kind: as Table::kind
  std::int64_t entries = 0;
  std::size_t streams = 0, clusters = 0, chunks = 0;
  std::uint64_t stored = 0;                // bytes of chunks
  std::size_t steps_back = 0;              // of a reader of all streams, chunk after chunk in the order of entries
  std::size_t steps_back_of_five = 0;      // of five streams, spread over the table
  std::string codec;                       // of most bytes: "zlib:1"
  std::optional<double> keys;              // bytes of keys and headers of chunks, as a share of `stored`; of trees
  std::optional<std::uint64_t> as_ntuple;  // about how many bytes it would have, zstd:5; nothing: not known
  std::string reason;                      // why it cannot be read; then all of this is missing
  std::optional<std::string> command;      // options for `tfilefs repack`; nothing: it would bring nothing

  double chunks_each() const;  // of a stream in a cluster
};

// Reads descriptions of all tables, and samples of their entries. Blocks. Errors: those of opening.
Result<std::vector<TableAdvice>> advise(const std::string& source, const tfile::RemoteOptions&, unsigned threads);

}  // namespace tfilefs
