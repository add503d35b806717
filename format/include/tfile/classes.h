// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tfile {

// The file's StreamerInfo on its classes, field by field (docs/format.md, "Streamer elements").
struct ClassMember {
  std::string kind;  // the element's own class: "TStreamerBase", ...
  std::string name, title, type_name;
  std::int32_t type = -1, size = 0, array_length = 0, array_dim = 0;
  std::array<std::int32_t, 5> max_index{};
  std::int32_t base_version = 0;  // only for a TStreamerBase
  std::string count_name, count_class;
  std::int32_t stl_type = 0, stl_content = 0;
};

struct ClassDescription {
  std::string name;
  std::int32_t version = 0;
  std::uint32_t checksum = 0;
  std::vector<ClassMember> members;
};

// A C++ header that declares one class, as TFile::MakeProject writes it. If the file describes several versions of the
// class, this is the newest. The headers of a file compile together; ROOT's own classes are included from ROOT.
struct ClassHeader {
  std::string file_name;  // the name of the class, with '_' for characters that a file name or an identifier cannot
                          // have, then ".h"
  std::string text;
};

struct FileClasses {
  std::vector<ClassDescription> descriptions;  // in file order
  std::vector<ClassHeader> headers;            // sorted by name
  std::vector<std::string> warnings;           // why some, or all, are missing
};

}  // namespace tfile
