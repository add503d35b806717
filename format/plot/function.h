// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/object_members.h"
#include "tfile/effort.h"
#include "tfile/plot.h"
#include "tfile/result.h"

namespace tfile {

// Whether the points or a formula will be available for a function of this many variables. Errors: unsupported, with
// the reason.
Result<> check_samples(const ObjectMembers&, std::size_t variables);

// A TF2 as fNpx times fNpy cells, with the value in the middle of each. Errors: as above.
Result<PlotBins> sampled_surface(const ObjectMembers&, Effort&);

}  // namespace tfile
