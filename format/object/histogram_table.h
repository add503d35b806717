// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "bytes/payload_bytes.h"
#include "object/csv_fields.h"
#include "object/object_arrays.h"
#include "tfile/pieced_text.h"

namespace tfile {

// The source of a histogram's table: its members, and the payload to which they belong. Both are kept.
struct HistogramSource {
  ObjectMembers members;
  std::shared_ptr<const PayloadBytes> payload;
};

// A line for each bin in CSV (docs/semantics/objects.md, "table.csv"): x slowest, without flow. It is counted here, and
// made in pieces of about 8,000 lines. `source`: kept for that where it is large; where it is not, `opened` makes it of
// the payload that a piece is given. Errors: damaged, io (of the payload, or ECANCELED: stopped), unsupported (the
// fills that ROOT would put into the bins first).
using OpenedHistogram = std::function<Result<HistogramSource>(std::span<const std::byte> payload)>;
Result<std::shared_ptr<const PiecedText>> histogram_table(const HistogramSource& source, const ObjectKind&,
                                                          OpenedHistogram opened, QuotedField, const std::stop_token&);

// Whether histogram_table() makes it.
bool has_histogram_table(const ObjectKind&, const ObjectMembers&);

}  // namespace tfile
