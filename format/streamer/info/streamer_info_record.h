// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/file.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// A file's StreamerInfo record as a writer keeps it, to add to it.
struct StreamerInfoRecord {
  std::vector<std::byte> payload;  // decompressed; empty where there is none
  std::uint32_t keylen = 0;
  std::shared_ptr<const StreamerInfos> infos;  // what it describes, and ROOT's own
};

StreamerInfoRecord streamer_info_record(std::vector<std::byte> payload, std::uint32_t keylen);

// Errors: unsupported (damaged: other readers refuse such a file, and a new one could not keep what the old one says),
// io. Reads.
Result<StreamerInfoRecord> read_streamer_info_record(const Source& source, const FileHeader& header);

// The title of the record's key that makes it as long as the old one, which the tags in the payload count from; ROOT's
// own where `keylen` is 0. `untitled`: the length without any. Errors: unsupported (none does).
Result<std::string> streamer_info_title(std::uint32_t keylen, std::uint32_t untitled);

}  // namespace tfile
