// SPDX-License-Identifier: Apache-2.0
#include "remote/http/http_autoindex.h"

#include <curl/curl.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "remote/server/listing_draft.h"
#include "remote/server/remote_dates.h"

namespace tfile {
namespace {

using Json = nlohmann::json;
using Event = Json::parse_event_t;

// Each byte as the character of that number.
std::string as_latin1(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text += static_cast<char>(0xc0 | byte >> 6);
    text += byte >= 0x80 ? static_cast<char>(0x80 | (byte & 0x3f)) : c;
  }
  return text;
}

// And back. (Characters beyond these occur where the server writes "\u" and four digits, and stay.)
std::string from_latin1(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    const bool is_pair = (first == 0xc2 || first == 0xc3) && i + 1 < text.size();
    bytes += is_pair ? static_cast<char>(first << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f)) : text[i];
  }
  return bytes;
}

std::string text_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<> add(const Json& object, bool is_latin1, ListingDraft& draft) {
  const std::string type = text_of(object, "type"), name = text_of(object, "name");
  RemoteEntry entry;
  entry.name = is_latin1 ? from_latin1(name) : name;
  entry.is_directory = type == "directory";
  if (!entry.is_directory && type != "file") {
    draft.leave_out(entry.name, "it is neither a file nor a directory");
    return {};
  }
  if (const auto size = object.find("size"); size != object.end() && size->is_number_unsigned())
    entry.size = size->get<std::uint64_t>();
  entry.modified_ns = date_of_seconds(curl_getdate(text_of(object, "mtime").c_str(), nullptr));
  return draft.add(std::move(entry));
}

// Nothing if it is no such list. Each object is looked at when it is complete, and dropped; nothing that is nested
// deeper is kept.
std::optional<Result<RemoteListing>> read(const std::string& text, bool is_latin1) {
  ListingDraft draft;
  Result<> added;
  const auto on_event = [&](int depth, Event event, Json& parsed) {
    const bool begins = event == Event::object_start || event == Event::array_start;
    if (depth == 1 && event == Event::object_end) {
      if (added) added = add(parsed, is_latin1, draft);
      return false;
    }
    return begins ? (depth == 0 && event == Event::array_start) || (depth == 1 && event == Event::object_start) : true;
  };
  const Json list = Json::parse(text, on_event, false);
  if (!list.is_array() || !list.empty()) return std::nullopt;
  if (!added) return Result<RemoteListing>(tl::unexpected<Error>(added.error()));
  return Result<RemoteListing>(std::move(draft).finish());
}

}  // namespace

Result<RemoteListing> read_autoindex(const std::string& text) {
  auto listing = read(text, false);
  if (!listing) listing = read(as_latin1(text), true);
  if (!listing)
    return fail(ErrorKind::damaged,
                "the server's response of " + std::to_string(text.size()) + " bytes is not a JSON directory listing");
  return *std::move(listing);
}

}  // namespace tfile
