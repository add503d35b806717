// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tfilefs {

// Lets this process have as many files open as its user may allow it.
void allow_many_files();

}  // namespace tfilefs
