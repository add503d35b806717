// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tfile/node.h"

namespace tfilefs {

// The smallest type that holds every value of all of these exactly: of integers the next larger one, of floats f8, of
// integers up to four bytes with floats f8. Nothing if there is none: eight-byte integers with floats, u8 with signed
// integers, b1 with anything else. Does not depend on their order.
std::optional<tfile::Dtype> common_type(std::span<const tfile::Dtype>);

// Numbers of type `from` as those of a type that holds them exactly. Neither needs to be aligned.
void widen(const std::byte* numbers, tfile::Dtype from, std::byte* into, tfile::Dtype to, std::size_t count);

}  // namespace tfilefs
