// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_libraries.h"

#include "remote/disk/disk_cache.h"
#include "remote/server/library_versions.h"
#include "remote/server/protocols.h"

namespace {

#ifdef TFILEFS_HTTP
constexpr tfile::RemoteLibrary kHttp{tfile::open_http, tfile::look_http, tfile::origin_of_http, tfile::list_http,
                                     tfile::curl_version_now};
#else
constexpr tfile::RemoteLibrary kHttp;
#endif
#ifdef TFILEFS_XROOTD
constexpr tfile::RemoteLibrary kXrootd{tfile::open_xrootd, tfile::look_xrootd, tfile::origin_of_xrootd,
                                       tfile::list_xrootd, tfile::xrootd_version_then};
#else
constexpr tfile::RemoteLibrary kXrootd;
#endif

}  // namespace

const tfile::RemoteLibraries tfile_remote_libraries{kHttp, kXrootd, tfile::make_cache_directory};
