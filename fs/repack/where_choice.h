// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

#include "query/query.h"
#include "query/scan_threads.h"
#include "repack/chain_source.h"
#include "reply.h"
#include "tfile/kept_entries.h"

namespace tfilefs {

// The names for expressions: the columns, and these definitions. `is_one_file`: no chain.
QueryScope scope_of(const ChainSource&, NamedExpressions, bool is_one_file);

// The entries of which any iteration of the expression is not 0, as TTree::CopyTree keeps them. Blocks. Errors: those
// of Query::bind and of evaluate_unit().
Result<tfile::KeptEntries> entries_where(ChainSource&, const QueryScope&, const std::string& expression, ScanThreads&,
                                         const std::stop_token&);

}  // namespace tfilefs
