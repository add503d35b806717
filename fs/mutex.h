// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tfile/mutex.h"

namespace tfilefs {

using tfile::Condition;
using tfile::Lock;
using tfile::Mutex;

}  // namespace tfilefs
