// SPDX-License-Identifier: Apache-2.0
// What reads URLs, as a build without libcurl and the client of XRootD has it.
#include "far/far_libraries.h"

const tfile::FarLibraries tfile_far_libraries;
