// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "far/disk_cache.h"
#include "tfile/source.h"

namespace tfile {

// The same source, of which bytes that were read are kept on disk, and read from there. It starts reads
// (SourceTraits::starts_reads); the disk is read by a thread of its own. `disk` uses the source's identity; null: the
// source itself is returned.
std::shared_ptr<const Source> keep_on_disk(std::shared_ptr<const Source> far, std::shared_ptr<DiskFile> disk);

}  // namespace tfile
