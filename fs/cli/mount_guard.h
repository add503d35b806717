// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "descriptor.h"

namespace tfilefs {

// Another process, which waits until this one has ended, however it ends. If a dead mount is left at the path then, the
// guard unmounts it. To be made before there are threads. Throws where no process can be made.
class MountGuard {
 public:
  explicit MountGuard(const std::string& mount_point);

 private:
  Descriptor held_;  // the guard waits for its end
};

}  // namespace tfilefs
