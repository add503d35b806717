// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "container/directory.h"
#include "container/key.h"

namespace tfile {

// What a directory's record takes in both of its forms: the short one is followed by 12 bytes, so that the long one can
// be written over it.
inline constexpr std::size_t kDirectoryRecordSize = 60;

// TDirectoryFile's version, which is written; 1000 more in the long form.
inline constexpr std::int16_t kDirectoryVersion = 5;

// A TUUID: its version and 16 bytes.
using DirectoryUuid = std::array<std::byte, 2 + 16>;

// All bytes of the record, in the form that `record.version` says.
std::vector<std::byte> encode_directory_record(const DirectoryRecord& record, const DirectoryUuid& uuid);

// Where in the record the bytes lie that a commit changes: fDatimeM to fSeekKeys.
ByteRange switched_part(std::int16_t version);

// Appends the key list's payload: the number of keys, then each as it stands in `keys`.
std::vector<std::byte> encode_key_list(std::span<const std::vector<std::byte>* const> keys);

}  // namespace tfile
