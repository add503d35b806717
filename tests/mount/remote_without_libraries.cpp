// SPDX-License-Identifier: Apache-2.0
// What reads URLs, as a build without libcurl and the client of XRootD has it.
#include "remote/remote_libraries.h"

const tfile::RemoteLibraries tfile_remote_libraries;
