// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "object/summed_payload.h"
#include "tfile/result.h"

namespace tfile {

// Adds a THnSparse to another one of the same axes, as THnBase::Merge does: its bins keep their order, and those that
// only the other has follow. Squares of weights are kept as soon as one has them. Changes `to` also where it fails.
// Errors: unsupported (other axes), damaged.
Result<> add_sparse(SummedPayload& to, const std::string& path, const SummedPayload& from);

}  // namespace tfile
