// SPDX-License-Identifier: Apache-2.0
#include "container/header.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "bytes/cursor.h"

namespace tfile {
namespace {

std::int64_t read_address(Cursor& in, bool big, const char* what) {
  const std::int64_t address = big ? in.big<std::int64_t>(what) : in.big<std::int32_t>(what);
  if (address < 0) in.reject(what);
  return address;
}

// A guess at the kind of a file that is not a ROOT file, for the error message.
std::string_view what_it_is(std::span<const std::byte> start) {
  static constexpr std::pair<std::string_view, std::string_view> kBeginnings[] = {
      {"\x89HDF", "it is an HDF5 file"}, {"PAR1", "it is a Parquet file"}, {"ARROW1", "it is an Arrow file"},
      {"\x1f\x8b", "it is a gzip file"}, {"PK\3\4", "it is a zip file"},
  };
  if (start.empty()) return "it is empty";
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  for (const auto& [beginning, told] : kBeginnings)
    if (text.starts_with(beginning)) return told;
  // Near the beginning of a text, most bytes are ASCII, even if it is not English.
  const auto is_control = [](unsigned char c) { return (c < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 0x7f; };
  const auto beyond_ascii = std::count_if(text.begin(), text.end(), [](unsigned char c) { return c >= 0x80; });
  if (std::none_of(text.begin(), text.end(), is_control) && 2 * beyond_ascii < std::ssize(text))
    return "it is a text file";
  return "it does not start with \"root\"";
}

// Files of ROOT 2 end before the UUID, which is optional.
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
    return fail(ErrorKind::damaged, "not a ROOT file: " + std::string(what_it_is(start)));
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
