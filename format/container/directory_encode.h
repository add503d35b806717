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

// The size of a directory's record in both forms: 12 bytes follow the short form, so that the long form can replace it.
inline constexpr std::size_t kDirectoryRecordSize = 60;

// The version of TDirectoryFile that is written; 1000 more in the long form.
inline constexpr std::int16_t kDirectoryVersion = 5;

// A TUUID: its version and 16 bytes.
using DirectoryUuid = std::array<std::byte, 2 + 16>;

// All bytes of the record, in the form of `record.version`.
std::vector<std::byte> encode_directory_record(const DirectoryRecord& record, const DirectoryUuid& uuid);

// The bytes of the record that a commit changes: fDatimeM to fSeekKeys.
ByteRange switched_part(std::int16_t version);

// The payload of a key list: the number of keys, then the bytes of each.
std::vector<std::byte> encode_key_list(std::span<const std::vector<std::byte>* const> keys);

}  // namespace tfile
