// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "tfile/json_writer.h"
#include "view/view.h"

namespace tfilefs {

using tfile::JsonWriter;

std::string uuid_of(const tfile::File& file) {
  const std::array<std::uint8_t, 16>& uuid = file.header().uuid;
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
    text.push_back(kHex[uuid[i] >> 4]);
    text.push_back(kHex[uuid[i] & 0xf]);
  }
  return text;
}

std::string header_text(const tfile::File& file) {
  const tfile::FileHeader& header = file.header();
  JsonWriter json;
  json.begin_object().member("tfilefs", 1);
  const auto number = [&](const char* name, std::int64_t value) { json.line(1).member(name, value); };
  const auto quoted = [&](const char* name, std::string_view value) { json.line(1).member(name, value); };
  quoted("name", header.name);
  quoted("title", header.title);
  number("fVersion", header.version);
  json.line(1).key("large").flag(header.big);
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
  quoted("fUUID", uuid_of(file));
  number("size", static_cast<std::int64_t>(file.source().size()));
  json.line(1).key("recovered").flag(file.recovered());
  json.line(1).key("warnings").begin_array();
  for (const std::string& warning : file.warnings()) json.text(warning);
  return json.end_array().end_object().take() + "\n";
}

}  // namespace tfilefs
