// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "bytes/appender.h"
#include "container/key.h"

namespace tfile {

// ROOT's kStartBigFile: larger addresses have 8 bytes everywhere (docs/format.md, "Addresses above 2 GB").
inline constexpr std::uint64_t kNarrowAddressMax = 2'000'000'000;

// The versions that are written: kKeyVersion, plus kWideVersion if the key has addresses of 8 bytes.
inline constexpr std::int16_t kKeyVersion = 4;
inline constexpr std::int16_t kWideVersion = 1000;

// The longest class, name and title together for which fKeylen, an i2, has room.
inline constexpr std::size_t kKeyTextMax = 32'000;

// fKeylen of a key with these strings and this version. Valid for all classes but TBasket, whose key has more fields.
std::size_t key_size(const KeyHeader& key);

// Appends the key in the form that read_key reads.
void append_key(Appender& out, const KeyHeader& key);

}  // namespace tfile
