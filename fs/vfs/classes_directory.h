// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "vfs/directory.h"

namespace tfilefs {

// .classes in a ROOT file's directory: a header for each class that the file describes, made on first access.
void enter_classes(std::shared_ptr<const Generation>, Reply<std::shared_ptr<const Directory>>);

}  // namespace tfilefs
