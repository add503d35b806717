// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/directory.h"
#include "container/key.h"
#include "tfile/file.h"
#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// A key in a directory's list, with all its bytes.
struct ListedKey {
  std::string class_name, name;
  std::int16_t cycle = 1;
  std::uint16_t keylen = 0;  // of its record
  ByteRange record;          // of size 0 until there is one
  std::vector<std::byte> bytes;
  bool is_copied = false;     // its record is that of another file: the address of its directory is not in it yet
  bool written_here = false;  // this process wrote its record, so the record is not checked
};

// A directory that can be changed: its record, its keys, and the place of each in the file.
struct DirectoryState {
  std::string class_name, name, title;  // as its key says
  std::uint32_t datime = 0;             // of its next key; 0: the date of the commit
  std::optional<std::size_t> parent;    // index of the directory that lists it; none for the root
  ByteRange own;                        // key and record; of size 0 until it is in the file
  DirectoryRecord record;
  DirectoryUuid uuid{};
  ByteRange key_list;  // of size 0 if there is none
  std::vector<ListedKey> keys;
  bool changed = false;   // the keys differ from those in the file
  bool together = false;  // must change at the same instant as another directory
  bool renamed = false;   // its record still has the former name
  bool removed = false;

  std::uint64_t record_address() const { return own.begin + static_cast<std::uint64_t>(record.nbytes_name); }
  // All bytes that belong to the record, including those after its own end.
  std::uint64_t record_room() const { return own.end() - record_address(); }
};

ListedKey listed_key(const KeyHeader& key);

// Errors: damaged (no such directory at the address, or a list that breaks off: then nothing may be written), io.
// Reads.
Result<DirectoryState> read_directory_state(const Source& source, const FileHeader& header);
Result<DirectoryState> read_directory_state(const Source& source, const ListedKey& key);

// The newest key of that name; nullptr if there is none.
const ListedKey* newest_key(const DirectoryState& directory, std::string_view name);

// Inserts the key before the others of its name, since it has the highest cycle; else at the end.
void insert_key(DirectoryState& directory, ListedKey key);

// Whether the bytes that a commit changes, in the form with `wide` addresses, lie within one sector at their present
// place, so that a disk writes them whole or not at all.
bool can_switch_in_place(const DirectoryState& directory, bool wide);

// The part of a record that a change writes: its address in the file, and the bytes.
struct RecordPatch {
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;
};
RecordPatch record_patch(const DirectoryState& before, const DirectoryRecord& after);

}  // namespace tfile
