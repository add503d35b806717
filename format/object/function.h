// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/object_members.h"
#include "tfile/object.h"
#include "tfile/result.h"

namespace tfile {

// A TF1 as a curve: the points that were saved with it, else its formula at fNpx + 1 places. Errors: unsupported (the
// function was compiled code and nothing was saved, or a formula that is not understood).
Result<PlotPoints> sampled_function(const ObjectMembers&, Effort&);

// A TF2 as fNpx times fNpy cells: its formula in the middle of each. Errors: as above.
Result<PlotBins> sampled_surface(const ObjectMembers&, Effort&);

}  // namespace tfile
