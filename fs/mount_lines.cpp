// SPDX-License-Identifier: Apache-2.0
#include "mount_lines.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace tfilefs {

std::string plain_field(const std::string& field) {
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '\\' && i + 3 < field.size()) {
      out += static_cast<char>(std::strtol(field.substr(i + 1, 3).c_str(), nullptr, 8));
      i += 3;
    } else {
      out += field[i];
    }
  }
  return out;
}

std::vector<MountLine> mounts_of(const std::string& process) {
  std::ifstream mounts("/proc/" + process + "/mountinfo");
  std::vector<MountLine> lines;
  for (std::string text; std::getline(mounts, text);) {
    // "36 35 98:0 /root /mount/point options optional... - type source options"
    std::istringstream fields(text);
    MountLine line;
    std::string skip;
    fields >> skip >> skip >> line.device >> skip >> line.point;
    while (fields >> skip && skip != "-") {
    }
    fields >> line.type >> line.source;
    line.point = plain_field(line.point);
    line.source = plain_field(line.source);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace tfilefs
