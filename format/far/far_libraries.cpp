// SPDX-License-Identifier: Apache-2.0
#include "far/far_libraries.h"

#include "far/disk_cache.h"
#include "far/library_versions.h"
#include "far/protocols.h"

namespace {

#ifdef TFILEFS_HTTP
constexpr tfile::FarLibrary kHttp{tfile::open_http, tfile::look_http, tfile::origin_of_http, tfile::list_http,
                                  tfile::curl_version_now};
#else
constexpr tfile::FarLibrary kHttp;
#endif
#ifdef TFILEFS_XROOTD
constexpr tfile::FarLibrary kXrootd{tfile::open_xrootd, tfile::look_xrootd, tfile::origin_of_xrootd, tfile::list_xrootd,
                                    tfile::xrootd_version_then};
#else
constexpr tfile::FarLibrary kXrootd;
#endif

}  // namespace

const tfile::FarLibraries tfile_far_libraries{kHttp, kXrootd, tfile::make_cache_directory};
