// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/draw.h"
#include "reply.h"
#include "tfile/plot.h"

namespace tfilefs {

// The picture of a drawing. `is_log`: the contents have a logarithmic scale. Errors: unsupported (three axes).
Result<tfile::Plot> drawn_plot(const Drawing&, bool is_log);

}  // namespace tfilefs
