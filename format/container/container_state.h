// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "container/directory_state.h"
#include "container/space.h"
#include "tfile/file.h"
#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// A file between two commits, except for the content of its tables. A plain value: plans are made on a copy.
struct ContainerState {
  FileHeader header;
  // The file's first bytes: the header, and the root directory's record if both lie in the first sector.
  std::vector<std::byte> head;
  bool root_in_head = true;
  // The file does not exist yet, or its root directory is empty. In such a file, readers would recover records that are
  // written before they are committed; so the next commit makes a whole new file.
  bool makes_new_file = false;
  std::vector<DirectoryState> directories;  // the root, then those that were requested
  ByteRange free_list, streamer_info;
  std::vector<ListedKey> removed;  // keys whose records the next commit frees
};

// The longest name (with title) of a file whose header and root record share the first sector.
inline constexpr std::size_t kFileNameMax = 158;

// The state before a file's first commit. `uuid` identifies the file.
ContainerState new_container(std::string_view name, std::int32_t compress, const std::array<std::uint8_t, 16>& uuid);
// The begin of the first record after the root directory's.
std::uint64_t records_begin(const ContainerState& state);
// The head of a file that has only a header and a root directory.
std::vector<std::byte> encode_new_head(const ContainerState& state);

// The state of an existing file, and its space. Errors: damaged, unsupported (a file that writing could only make
// worse), io. Reads.
struct OpenedContainer {
  ContainerState state;
  Space space;
};
Result<OpenedContainer> read_container(const Source& source, const FileHeader& header);

}  // namespace tfile
