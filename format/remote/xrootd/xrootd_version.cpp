// SPDX-License-Identifier: Apache-2.0
#include <XrdVersion.hh>

#include "remote/server/library_versions.h"

namespace tfile {

std::string xrootd_version_then() { return XrdVERSION; }

}  // namespace tfile
