// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/streamer_info_record.h"

#include <utility>

#include "container/payload.h"

namespace tfile {

StreamerInfoRecord streamer_info_record(std::vector<std::byte> payload, std::uint32_t keylen) {
  StreamerInfoRecord record{std::move(payload), keylen, nullptr};
  std::vector<std::string> warnings;
  record.infos = std::make_shared<const StreamerInfos>(StreamerInfos::read(record.payload, keylen, warnings));
  return record;
}

Result<StreamerInfoRecord> read_streamer_info_record(const Source& source, const FileHeader& header) {
  if (header.seek_info <= 0 || header.nbytes_info <= 0) return streamer_info_record({}, 0);
  auto content = read_record(
      source, {static_cast<std::uint64_t>(header.seek_info), static_cast<std::uint64_t>(header.nbytes_info)});
  if (!content && content.error().kind == ErrorKind::io) return tl::unexpected<Error>(std::move(content).error());
  if (!content) {
    return fail(ErrorKind::unsupported, "cannot be written to: StreamerInfo: " + content.error().text,
                header.seek_info);
  }
  const std::span<const std::byte> payload = content->payload.span();
  return streamer_info_record({payload.begin(), payload.end()}, content->keylen);
}

Result<std::string> streamer_info_title(std::uint32_t keylen, std::uint32_t untitled) {
  std::string title = "Doubly linked list";
  if (keylen == 0) return title;
  constexpr std::uint32_t kTitleMax = 254;  // its length takes one byte, as that of the empty title does
  if (keylen < untitled || keylen - untitled > kTitleMax)
    return fail(ErrorKind::unsupported,
                "cannot be written to: the key of its StreamerInfo has " + std::to_string(keylen) + " bytes");
  title.resize(keylen - untitled, ' ');
  return title;
}

}  // namespace tfile
