// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tfile/writer.h"

namespace tfile {

// Appends the blocks of docs/format.md "Compression" that hold `payload`, as ROOT makes them with that algorithm and
// level, to `stored`. False, and nothing appended, where the payload is to be stored as it is: with Algorithm::none or
// level 0, and where a block would not shrink. From `ascending` on the payload is of numbers that go up (a basket's
// offsets), which not every encoder is good at. Any thread; each keeps its own encoder state. Errors: no_space
// (memory).
Result<bool> compress(std::span<const std::byte> payload, std::size_t ascending, const Compression&,
                      std::vector<std::byte>& stored);

}  // namespace tfile
