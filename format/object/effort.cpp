// SPDX-License-Identifier: Apache-2.0
#include "tfile/effort.h"

#include <cerrno>

namespace tfile {

Result<> Effort::check() const {
  if (stop_.stop_requested()) return fail(ErrorKind::io, "given up: nobody waits for it", -1, ECANCELED);
  if (left_ == 0) return fail(ErrorKind::unsupported, "takes more work than a drawing or a table is given");
  return {};
}

}  // namespace tfile
