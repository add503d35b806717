// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reply.h"

namespace tfilefs {

// The one place where an error gets the number that a program sees: that of the system call where there was one, else
// by kind.
int errno_of(const Error&);

}  // namespace tfilefs
