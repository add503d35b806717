// SPDX-License-Identifier: Apache-2.0
#include "cli/open_file_limit.h"

#include <sys/resource.h>

namespace tfilefs {

// With directories of thousands of ROOT files, each file in use keeps some descriptors open.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace tfilefs
