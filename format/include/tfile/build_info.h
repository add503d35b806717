// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <string>
#include <vector>

namespace tfile {

struct LibraryVersion {
  std::string name, version;
};

// The libraries that read and write compressed bytes, with the versions that run now; of headers and static tables the
// versions that were compiled in.
std::vector<LibraryVersion> codec_versions();

// The libraries that read URLs; those that were left out of the build have no version.
std::vector<LibraryVersion> protocol_versions();

// The vector instructions that are used here: "avx2", or "baseline".
std::string vector_path();

}  // namespace tfile
