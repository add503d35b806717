// SPDX-License-Identifier: Apache-2.0
#include "source/remote_module.h"
#include "tfile/build_info.h"

namespace tfile {

std::vector<LibraryVersion> protocol_versions() {
  const auto libraries = remote_libraries();
  const auto version = [&](RemoteLibrary RemoteLibraries::*library) {
    return libraries && ((*libraries)->*library).version ? ((*libraries)->*library).version() : std::string();
  };
  return {{"libcurl", version(&RemoteLibraries::http)}, {"XRootD", version(&RemoteLibraries::xrootd)}};
}

}  // namespace tfile
