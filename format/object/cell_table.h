// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>

#include "bytes/payload_bytes.h"
#include "object/csv_fields.h"
#include "object/object_arrays.h"
#include "tfile/pieced_text.h"

namespace tfile {

// A line in CSV for each cell of a THn, and for each filled one of a THnSparse, without flow
// (docs/semantics/objects.md, "table.csv"). It is counted here, and made of the payload in pieces of about 8,000 lines.
// `members`: of the object, or of one inside it, in `payload`; neither is kept. `kept`: the payload, if it stays in
// memory, so that it need not be given again. Errors: damaged, io with ECANCELED (stopped).
Result<std::shared_ptr<const PiecedText>> cell_table(const ObjectMembers& members, const ObjectKind&,
                                                     std::span<const std::byte> payload,
                                                     std::shared_ptr<const PayloadBytes> kept, const QuotedField&,
                                                     const std::stop_token&);

}  // namespace tfile
