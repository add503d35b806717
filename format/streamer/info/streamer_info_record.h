// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/file.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// A file's StreamerInfo record, kept by a writer that adds to it.
struct StreamerInfoRecord {
  std::vector<std::byte> payload;  // decompressed; empty if there is none
  std::uint32_t keylen = 0;
  std::shared_ptr<const StreamerInfos> infos;  // the descriptions in it, and the built-in ones
};

StreamerInfoRecord streamer_info_record(std::vector<std::byte> payload, std::uint32_t keylen);

// Errors: unsupported (damaged: other readers refuse such a file, and a new record could not preserve the old one), io.
// Reads.
Result<StreamerInfoRecord> read_streamer_info_record(const Source& source, const FileHeader& header);

// A title for the record's key such that the key is as long as the old one, since tags in the payload count from its
// start. ROOT's own title if `keylen` is 0. `untitled`: the length without a title. Errors: unsupported (there is no
// such title).
Result<std::string> streamer_info_title(std::uint32_t keylen, std::uint32_t untitled);

// The payload of a file's first StreamerInfo record, decompressed, for a key of `keylen` bytes. `name`: of the list.
std::vector<std::byte> encode_streamer_infos(std::span<const StreamerInfo* const> infos, std::uint32_t keylen,
                                             std::string_view name = {});

// The name of the list in such a payload; empty if it is none.
std::string name_of_streamer_infos(std::span<const std::byte> payload);

// Whether missing_streamer_infos() gives exactly this description where its class is needed.
bool is_standard(const StreamerInfo& info);

// The payload that replaces an existing one: `payload` stays unchanged and in place, and `infos` follow. `keylen` is
// that of the old key, and the new key must have the same, since tags count from the start of the key. Errors: damaged
// (not a list).
Result<std::vector<std::byte>> add_streamer_infos(std::span<const std::byte> payload,
                                                  std::span<const StreamerInfo* const> infos, std::uint32_t keylen);

// The descriptions that a file with the descriptions `known` lacks for objects of `classes` as they are written here:
// these classes, their bases and their members' classes, in the versions of ROOT 6.40, except for classes that ROOT
// never describes.
std::vector<const StreamerInfo*> missing_streamer_infos(std::span<const std::string> classes,
                                                        const StreamerInfos& known);

}  // namespace tfile
