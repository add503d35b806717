// SPDX-License-Identifier: Apache-2.0
#include "container/header.h"

#include <algorithm>

#include "bytes/cursor.h"
#include "container/header_encode.h"

namespace tfile {
namespace {

std::int64_t read_address(Cursor& in, bool big, const char* what) {
  const std::int64_t address = big ? in.big<std::int64_t>(what) : in.big<std::int32_t>(what);
  if (address < 0) in.reject(what);
  return address;
}

// Files of ROOT 2 end before the UUID, which nobody needs.
void read_uuid(Cursor in, FileHeader& header) {
  header.uuid_version = in.big<std::uint16_t>("header: fUUID");
  const auto bytes = in.take(header.uuid.size(), "header: fUUID");
  std::transform(bytes.begin(), bytes.end(), header.uuid.begin(),
                 [](std::byte b) { return static_cast<std::uint8_t>(b); });
}

}  // namespace

Result<FileHeader> read_header(std::span<const std::byte> start) {
  Cursor in(start, 0);
  const auto magic = in.take(4, "header");
  constexpr std::string_view kMagic = "root";
  if (magic.size() != kMagic.size() || std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) {
    return fail(ErrorKind::damaged, "not a ROOT file: it does not begin with \"root\"", 0);
  }
  FileHeader header;
  header.version = in.big<std::int32_t>("header: fVersion");
  header.big = header.version >= kBigVersion;
  header.begin = read_address(in, false, "header: fBEGIN");
  header.end = read_address(in, header.big, "header: fEND");
  header.seek_free = read_address(in, header.big, "header: fSeekFree");
  header.nbytes_free = in.big<std::int32_t>("header: fNbytesFree");
  header.nfree = in.big<std::int32_t>("header: nfree");
  header.nbytes_name = in.big<std::int32_t>("header: fNbytesName");
  header.units = in.u1("header: fUnits");
  header.compress = in.big<std::int32_t>("header: fCompress");
  header.seek_info = header.big ? in.big<std::int64_t>("header: fSeekInfo") : in.big<std::int32_t>("header: fSeekInfo");
  header.nbytes_info = in.big<std::int32_t>("header: fNbytesInfo");
  if (in.failed()) return tl::unexpected<Error>(in.error());
  read_uuid(in, header);
  return header;
}

}  // namespace tfile
