// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/object_members.h"
#include "tfile/effort.h"
#include "tfile/plot.h"
#include "tfile/result.h"

namespace tfile {

// A TF1 as a curve: the points that were saved with it, else its formula at fNpx + 1 places. Errors: unsupported (the
// function was compiled code and nothing was saved, or a formula that is not understood).
Result<PlotPoints> sampled_function(const ObjectMembers&, Effort&);

// Whether one of these two will be there for a function of so many variables. Errors: unsupported, and why.
Result<> check_samples(const ObjectMembers&, std::size_t variables);

// A TF2 as fNpx times fNpy cells: its formula in the middle of each. Errors: as above.
Result<PlotBins> sampled_surface(const ObjectMembers&, Effort&);

}  // namespace tfile
