// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "remote/disk/disk_cache.h"
#include "tfile/source.h"

namespace tfile {

// The same source, of which bytes that were read are kept on disk, and read from there. It starts reads
// (SourceTraits::starts_reads); the disk is read by a thread of its own. `disk` uses the source's identity; null: the
// source itself is returned.
std::shared_ptr<const Source> keep_on_disk(std::shared_ptr<const Source> remote, std::shared_ptr<DiskFile> disk);

// The parts of these ranges that the disk does not have; all of them, if it is null. Blocks.
Source::Started missing_on_disk(DiskFile* disk, std::span<const ByteRange> ranges,
                                std::span<const std::span<std::byte>> into, std::uint64_t file_size);

}  // namespace tfile
