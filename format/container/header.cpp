// SPDX-License-Identifier: Apache-2.0
#include "container/header.h"

#include <algorithm>
#include <string>
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

// The first line of a text, in quotes; not all of it if it is long.
std::string first_line(std::string_view text) {
  constexpr std::size_t kShown = 60;
  text = text.substr(0, text.find_first_of("\r\n"));
  if (text.size() <= kShown) return "\"" + std::string(text) + "\"";
  std::size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // inside a character of UTF-8
  return "\"" + std::string(text.substr(0, end)) + "...\"";
}

std::string what_text_it_is(std::string_view text) {
  if (text.starts_with("version https://git-lfs.github.com/"))
    return "it is a pointer of git-lfs: run git lfs pull to get the file";
  static constexpr std::pair<std::string_view, std::string_view> kBeginnings[] = {
      {"<!doctype html", "it is an HTML page"}, {"<html", "it is an HTML page"}, {"<?xml", "it is an XML file"}};
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  std::string begin(text.substr(0, 16));
  std::ranges::transform(begin, begin.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  std::string_view told = "it is a text file";
  for (const auto& [beginning, kind] : kBeginnings)
    if (begin.starts_with(beginning)) told = kind;
  return std::string(told) + ": " + first_line(text);
}

// A guess at the kind of a file that is not a ROOT file, for the error message.
std::string what_it_is(std::span<const std::byte> start) {
  static constexpr std::pair<std::string_view, std::string_view> kBeginnings[] = {
      {"\x89HDF", "it is an HDF5 file"}, {"PAR1", "it is a Parquet file"}, {"ARROW1", "it is an Arrow file"},
      {"\x1f\x8b", "it is a gzip file"}, {"PK\3\4", "it is a zip file"},
  };
  if (start.empty()) return "it is empty";
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  for (const auto& [beginning, told] : kBeginnings)
    if (text.starts_with(beginning)) return std::string(told);
  // Near the beginning of a text, most bytes are ASCII, even if it is not English.
  const auto is_control = [](unsigned char c) { return (c < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 0x7f; };
  const auto beyond_ascii = std::count_if(text.begin(), text.end(), [](unsigned char c) { return c >= 0x80; });
  if (std::none_of(text.begin(), text.end(), is_control) && 2 * beyond_ascii < std::ssize(text))
    return what_text_it_is(text);
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
    return fail(ErrorKind::damaged, "not a ROOT file: " + what_it_is(start));
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
