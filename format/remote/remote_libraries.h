// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "tfile/remote_listing.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// The functions that read URLs by one library; null: it was left out of this build.
struct RemoteLibrary {
  Result<std::shared_ptr<const Source>> (*open)(const std::string& url, const RemoteOptions&) = nullptr;
  Result<Identity> (*look)(const std::string& url, const RemoteOptions&) = nullptr;  // as look_remote()
  ServerId (*origin)(const std::string& url) = nullptr;                              // as origin_of_url()
  Result<RemoteListing> (*list)(const std::string& url, const RemoteOptions&) = nullptr;
  std::string (*version)() = nullptr;  // of the library
};

// This room, as the others see it. It is a module that is loaded when the first URL is met: with what libcurl and the
// client of XRootD need, forty shared libraries, it would take ten milliseconds of each start of the program.
struct RemoteLibraries {
  RemoteLibrary http, xrootd;
  Result<> (*prepare_cache_directory)(const std::string& path) = nullptr;
};

}  // namespace tfile

// In the module; null in a program that does not hold it.
extern "C" __attribute__((weak, visibility("default"))) const tfile::RemoteLibraries tfile_remote_libraries;
