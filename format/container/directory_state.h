// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/directory_encode.h"
#include "container/key.h"
#include "tfile/file.h"
#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// A key as it stands in its directory's list, all bytes kept.
struct ListedKey {
  std::string class_name, name;
  std::int16_t cycle = 1;
  std::uint16_t keylen = 0;  // of its record
  ByteRange record;          // of size 0 while there is none
  std::vector<std::byte> bytes;
  bool written_here = false;  // its record was written by this process, so nothing of it needs to be checked
};

// A directory that can be changed: its record, its keys, and what of it stands where in the file.
struct DirectoryState {
  std::string class_name, name, title;  // as its key says
  std::uint32_t datime = 0;             // of its next key; 0: that of the commit
  std::optional<std::size_t> parent;    // index of the directory that lists it; none for the root
  ByteRange own;                        // key and record; of size 0 while it is not in the file
  DirectoryRecord record;
  DirectoryUuid uuid{};
  ByteRange key_list;  // of size 0 where there is none
  std::vector<ListedKey> keys;
  bool changed = false;   // the keys are others than in the file
  bool together = false;  // its change must become true at the same instant as another directory's
  bool removed = false;

  std::uint64_t record_address() const { return own.begin + static_cast<std::uint64_t>(record.nbytes_name); }
  // Bytes that belong to the record, behind its own or not.
  std::uint64_t record_room() const { return own.end() - record_address(); }
};

ListedKey listed_key(const KeyHeader& key);

// Errors: damaged (no such directory there, or a list that breaks off: nothing may be written then), io. Reads.
Result<DirectoryState> read_directory_state(const Source& source, const FileHeader& header);
Result<DirectoryState> read_directory_state(const Source& source, const ListedKey& key);

// Its newest key of that name; nullptr if there is none.
const ListedKey* newest_key(const DirectoryState& directory, std::string_view name);

// Puts the key before those of its name, of which it has the highest cycle, else at the end.
void insert_key(DirectoryState& directory, ListedKey key);

// Whether the bytes that a commit changes, with the form of `wide` addresses, can be written in one piece that a disk
// writes whole, where the record stands now.
bool can_switch_in_place(const DirectoryState& directory, bool wide);

// What of the record changes on the way to `record`: where in the file, and the bytes.
struct RecordPatch {
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;
};
RecordPatch record_patch(const DirectoryState& before, const DirectoryRecord& after);

}  // namespace tfile
