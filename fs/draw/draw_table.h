// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "query/draw.h"
#include "reply.h"
#include "tfile/source.h"

namespace tfilefs {

// A drawing of `tfilefs draw`.
struct TableDrawing {
  std::string source;  // with its table, as parse_chain_name() takes it; a list or pattern of files as well
  DrawRequest request;
  NamedExpressions definitions;
  unsigned threads = 1;
  std::uint64_t memory = 0;  // bytes
  tfile::RemoteOptions remote;
};

// Opens the table and draws it. Blocks. Errors: invalid (no table is named), and those of ChainSource::open() and
// draw().
Result<Drawing> draw_table(const TableDrawing&, const std::stop_token&, const std::function<void(double)>& progress);

}  // namespace tfilefs
