// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "json/json_text.h"
#include "view/view.h"

namespace tfilefs {
namespace {

std::string uuid_text(const std::array<std::uint8_t, 16>& uuid) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
    text.push_back(kHex[uuid[i] >> 4]);
    text.push_back(kHex[uuid[i] & 0xf]);
  }
  return text;
}

}  // namespace

std::string header_text(const tfile::File& file) {
  const tfile::FileHeader& header = file.header();
  std::string text = "{\"tfilefs\": 1";
  const auto number = [&](const char* name, std::int64_t value) {
    text += std::string(",\n \"") + name + "\": " + std::to_string(value);
  };
  const auto quoted = [&](const char* name, std::string_view value) {
    text += std::string(",\n \"") + name + "\": ";
    append_json_string(text, value);
  };
  quoted("name", header.name);
  quoted("title", header.title);
  number("fVersion", header.version);
  text += std::string(",\n \"large\": ") + (header.big ? "true" : "false");
  number("fBEGIN", header.begin);
  number("fEND", header.end);
  number("fSeekFree", header.seek_free);
  number("fNbytesFree", header.nbytes_free);
  number("nfree", header.nfree);
  number("fNbytesName", header.nbytes_name);
  number("fUnits", header.units);
  number("fCompress", header.compress);
  number("fSeekInfo", header.seek_info);
  number("fNbytesInfo", header.nbytes_info);
  number("fUUID_version", header.uuid_version);
  quoted("fUUID", uuid_text(header.uuid));
  number("size", static_cast<std::int64_t>(file.source().size()));
  text += std::string(",\n \"recovered\": ") + (file.recovered() ? "true" : "false");
  text += ",\n \"warnings\": [";
  bool first = true;
  for (const std::string& warning : file.warnings()) {
    if (!std::exchange(first, false)) text += ", ";
    append_json_string(text, warning);
  }
  return text += "]}\n";
}

}  // namespace tfilefs
