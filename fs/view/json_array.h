// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "content.h"

namespace tfilefs {

// TABLE.json: the lines of TextStyle::json_array, in brackets.
std::shared_ptr<Content> json_array(std::shared_ptr<Content> lines);

}  // namespace tfilefs
