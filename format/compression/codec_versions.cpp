// SPDX-License-Identifier: Apache-2.0
#include <isa-l.h>
#include <libdeflate.h>
#include <lz4.h>
#include <lzma.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include "tfile/build_info.h"

namespace tfile {
namespace {

std::string dotted(unsigned major, unsigned minor, unsigned patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace

std::vector<LibraryVersion> codec_versions() {
  const unsigned xxhash = XXH_versionNumber();
  return {{"zlib", ::zlibVersion()},
          {"libdeflate", LIBDEFLATE_VERSION_STRING},
          {"ISA-L", dotted(ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION)},
          {"liblzma", ::lzma_version_string()},
          {"lz4", ::LZ4_versionString()},
          {"zstd", ::ZSTD_versionString()},
          {"xxHash", dotted(xxhash / 10000, xxhash / 100 % 100, xxhash % 100)}};
}

}  // namespace tfile
