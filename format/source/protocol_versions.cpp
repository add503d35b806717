// SPDX-License-Identifier: Apache-2.0
#include "far/library_versions.h"
#include "tfile/build_info.h"

namespace tfile {

std::vector<LibraryVersion> protocol_versions() {
  std::vector<LibraryVersion> versions{{"libcurl", ""}, {"XRootD", ""}};
#ifdef TFILEFS_HTTP
  versions[0].version = curl_version_now();
#endif
#ifdef TFILEFS_XROOTD
  versions[1].version = xrootd_version_then();
#endif
  return versions;
}

}  // namespace tfile
