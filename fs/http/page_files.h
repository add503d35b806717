// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace tfilefs {

// A file of fs/http/page, in the program (fs/http/page/page_files.cpp.in).
struct PageFile {
  std::string_view name;  // "listing.css"
  std::string_view bytes;
};

// All of them.
std::span<const PageFile> page_files();

}  // namespace tfilefs
