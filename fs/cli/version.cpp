// SPDX-License-Identifier: Apache-2.0
#include "cli/version.h"

#include "fuse/mount.h"
#include "tfile/build_info.h"

#ifndef TFILEFS_COMMIT
#define TFILEFS_COMMIT ""  // not built from a checkout
#endif

namespace tfilefs {
namespace {

std::string listed(const std::vector<tfile::LibraryVersion>& libraries) {
  std::string text;
  for (const tfile::LibraryVersion& one : libraries) {
    const bool is_there = !one.version.empty();
    text += (text.empty() ? "" : ", ") + one.name + " " + (is_there ? one.version : "left out");
  }
  return text;
}

}  // namespace

std::string version_text(bool verbose) {
  const std::string text = std::string("tfilefs ") + TFILEFS_VERSION;
  if (!verbose) return text;
  const std::string commit = TFILEFS_COMMIT;
  return text + "\ncommit: " + (commit.empty() ? "unknown" : commit) + "\ncompiler: " + __VERSION__ +
         "\nlibraries: " + listed({{"libfuse", fuse_library_version()}}) +
         "\ncodecs: " + listed(tfile::codec_versions()) + "\nprotocols: " + listed(tfile::protocol_versions()) +
         "\nvector instructions: " + tfile::vector_path();
}

}  // namespace tfilefs
