// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "ntuple/description.h"

namespace tfile {

// The payload of the key of an RNTuple, for read_anchor. Its size does not depend on what it says.
std::vector<std::byte> encode_anchor(const Anchor&);

}  // namespace tfile
