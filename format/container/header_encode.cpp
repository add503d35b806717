// SPDX-License-Identifier: Apache-2.0
#include "bytes/appender.h"
#include "container/header.h"

namespace tfile {

std::vector<std::byte> encode_header(const FileHeader& header) {
  const auto address = [&](Appender& out, std::int64_t value) {
    out.address(static_cast<std::uint64_t>(value), header.big);
  };
  Appender out;
  out.text("root");
  out.big(header.version % kBigVersion + (header.big ? kBigVersion : 0));
  out.big(static_cast<std::int32_t>(header.begin));
  address(out, header.end);
  address(out, header.seek_free);
  out.big(header.nbytes_free);
  out.big(header.nfree);
  out.big(header.nbytes_name);
  out.u1(header.units);
  out.big(header.compress);
  address(out, header.seek_info);
  out.big(header.nbytes_info);
  out.big(header.uuid_version);
  for (const std::uint8_t byte : header.uuid) out.u1(byte);
  return out.take();
}

}  // namespace tfile
