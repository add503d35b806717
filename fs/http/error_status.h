// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reply.h"

namespace tfilefs {

// The status of HTTP that a client sees for an error.
int status_of(const Error&);

}  // namespace tfilefs
