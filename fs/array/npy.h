// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfile/node.h"

namespace tfilefs {

// What stands before the items in a .npy file: magic, version, and a Python dictionary padded so that the items begin
// at a multiple of 64 bytes. Version 1.0; 2.0 where the dictionary is too long for it.
std::string npy_header(tfile::Dtype, const std::vector<std::uint32_t>& shape, std::int64_t length);

}  // namespace tfilefs
