// SPDX-License-Identifier: Apache-2.0
#include "tfile/effort.h"

namespace tfile {

Result<> Effort::check() const {
  if (stop_.stop_requested()) return cancelled();
  if (left_ == 0) return fail(ErrorKind::unsupported, "exceeds the computing limit for a plot or a table");
  return {};
}

}  // namespace tfile
