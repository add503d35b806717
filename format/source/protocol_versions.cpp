// SPDX-License-Identifier: Apache-2.0
#include "source/far_module.h"
#include "tfile/build_info.h"

namespace tfile {

std::vector<LibraryVersion> protocol_versions() {
  const auto libraries = far_libraries();
  const auto version = [&](FarLibrary FarLibraries::*library) {
    return libraries && ((*libraries)->*library).version ? ((*libraries)->*library).version() : std::string();
  };
  return {{"libcurl", version(&FarLibraries::http)}, {"XRootD", version(&FarLibraries::xrootd)}};
}

}  // namespace tfile
