// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tfile/descriptor.h"

namespace tfilefs {

using tfile::Descriptor;

}  // namespace tfilefs
