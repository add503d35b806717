// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "reply.h"

namespace tfilefs {

// "FLAG VALUE: expected WANTED". Of the kind invalid.
tl::unexpected<Error> wrong_value(const std::string& flag, const std::string& value, const std::string& wanted);

// The value of -j, of commands that decode with many threads; empty: as many as compute at the same time.
Result<unsigned> parse_threads(const std::string& given);

// The least value of their --memory: with less, not even one large basket and its copy fit.
inline constexpr std::uint64_t kWorkMemoryMin = 64 << 20;
// The value where none is given.
std::uint64_t default_work_memory();

}  // namespace tfilefs
