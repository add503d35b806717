// SPDX-License-Identifier: Apache-2.0
#include "container/container_state.h"

#include <algorithm>
#include <utility>

#include "bytes/appender.h"
#include "container/free_list.h"
#include "container/header.h"
#include "container/key.h"
#include "tfile/buffer.h"

namespace tfile {
namespace {

// fVersion of new files: the version of ROOT whose layout of trees is written.
constexpr std::int32_t kFileVersion = 64'000;
constexpr std::int32_t kBegin = 100;  // fBEGIN, in ROOT since version 4
constexpr std::uint64_t kHeaderSizeSmall = 63;

// The text, cut between characters to at most `size` bytes.
std::string_view cut_text(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

KeyHeader root_key(const DirectoryState& root) {
  KeyHeader key;
  key.version = kKeyVersion;
  key.datime = root.record.created;
  key.cycle = 1;
  key.seek = kBegin;
  key.class_name = root.class_name;
  key.name = root.name;
  key.title = root.title;
  key.keylen = static_cast<std::int16_t>(key_size(key));
  key.objlen = static_cast<std::int32_t>(Appender::string_size(key.name) + Appender::string_size(key.title) +
                                         kDirectoryRecordSize);
  key.nbytes = key.keylen + key.objlen;
  return key;
}

tl::unexpected<Error> cannot_write(std::string why, std::int64_t offset = -1) {
  return fail(ErrorKind::unsupported, "cannot be written to: " + std::move(why), offset);
}

// Checks that no known record lies past fEND. If one does, the header is older than the records, and any writer would
// overwrite them.
Result<> check_end(const ContainerState& state) {
  const auto end = static_cast<std::uint64_t>(state.header.end);
  const auto check = [&](const ByteRange& record, const char* what) -> Result<> {
    if (record.begin <= end && record.size <= end - record.begin) return {};
    return cannot_write(std::string(what) + " is after fEND", static_cast<std::int64_t>(record.begin));
  };
  const DirectoryState& root = state.directories.front();
  TRY_VOID(check(root.own, "the root directory"));
  TRY_VOID(check(root.key_list, "the list of keys"));
  TRY_VOID(check(state.streamer_info, "the StreamerInfo"));
  TRY_VOID(check(state.free_list, "the list of free segments"));
  for (const ListedKey& key : root.keys) TRY_VOID(check(key.record, "a key"));
  return {};
}

// Whether the list can belong to this file. If not, it is ignored, and the next commit writes a new one.
bool is_plausible(std::vector<ByteRange>& segments, const ContainerState& state) {
  const auto end = static_cast<std::uint64_t>(state.header.end);
  if (segments.empty() || segments.back().begin != end) return false;
  segments.pop_back();
  std::uint64_t behind = records_begin(state);
  for (const ByteRange& segment : segments) {
    if (segment.begin < behind || segment.end() > end) return false;
    behind = segment.end();
  }
  return true;
}

// Only a segment that begins with its negative length is taken to be free.
Result<Space> read_space(const Source& source, const ContainerState& state) {
  const auto end = static_cast<std::uint64_t>(state.header.end);
  auto read = read_free_segments(source, state.header);
  if (!read && read.error().kind != ErrorKind::damaged) return tl::unexpected<Error>(std::move(read).error());
  if (!read || !is_plausible(*read, state)) return Space(end);
  std::vector<ByteRange> believed, unused;
  std::vector<std::int32_t> lengths(read->size());
  std::vector<ByteRange> ranges;
  std::vector<std::span<std::byte>> into;
  for (std::size_t i = 0; i < read->size(); ++i) {
    if ((*read)[i].size < kGapSizeMin) continue;
    ranges.push_back({(*read)[i].begin, sizeof(std::int32_t)});
    into.push_back(std::as_writable_bytes(std::span(lengths).subspan(i, 1)));
  }
  TRY_VOID(source.read(ranges, into));
  for (std::size_t i = 0; i < read->size(); ++i) {
    const ByteRange segment = (*read)[i];
    const auto length = load_big<std::int32_t>(reinterpret_cast<const std::byte*>(&lengths[i]));
    const bool is_marked = segment.size >= kGapSizeMin && length == gap_marks(segment).front().length;
    (is_marked ? believed : unused).push_back(segment);
  }
  return Space(end, std::move(believed), std::move(unused));
}

}  // namespace

ContainerState new_container(std::string_view name, std::int32_t compress, const std::array<std::uint8_t, 16>& uuid) {
  ContainerState state;
  state.makes_new_file = true;
  DirectoryState root;
  root.class_name = "TFile";
  root.name = cut_text(name, kFileNameMax);
  const KeyHeader key = root_key(root);
  root.own = {kBegin, static_cast<std::uint64_t>(key.nbytes)};
  root.record.version = kDirectoryVersion;
  root.record.nbytes_name = key.nbytes - static_cast<std::int32_t>(kDirectoryRecordSize);
  root.record.seek_dir = kBegin;
  root.uuid[1] = std::byte{1};  // TUUID's version
  std::ranges::transform(uuid, root.uuid.begin() + 2, [](std::uint8_t b) { return std::byte{b}; });

  state.header.version = kFileVersion;
  state.header.begin = kBegin;
  state.header.nbytes_name = root.record.nbytes_name;
  state.header.units = 4;
  state.header.compress = compress;
  state.header.uuid = uuid;
  state.header.uuid_version = 1;
  state.header.name = root.name;
  state.directories.push_back(std::move(root));
  state.header.end = static_cast<std::int64_t>(records_begin(state));
  return state;
}

std::uint64_t records_begin(const ContainerState& state) { return state.directories.front().own.end(); }

std::vector<std::byte> encode_new_head(const ContainerState& state) {
  const DirectoryState& root = state.directories.front();
  Appender out;
  out.bytes(encode_header(state.header));
  out.zeros(kBegin - out.size());
  append_key(out, root_key(root));
  out.string(root.name);
  out.string(root.title);
  out.bytes(encode_directory_record(root.record, root.uuid));
  return out.take();
}

Result<OpenedContainer> read_container(const Source& source, const FileHeader& header) {
  ContainerState state;
  state.header = header;
  if (static_cast<std::uint64_t>(header.begin) < kHeaderSizeSmall)
    return cannot_write("its header is of a version before ROOT 3");
  TRY(DirectoryState root, read_directory_state(source, header));
  const std::uint64_t root_end =
      root.record_address() + std::min<std::uint64_t>(root.record_room(), kDirectoryRecordSize);
  state.root_in_head = root_end <= kSectorSize;
  state.head.resize(state.root_in_head ? root_end : static_cast<std::uint64_t>(header.begin));
  TRY_VOID(read_range(source, {0, state.head.size()}, state.head));
  state.directories.push_back(std::move(root));
  if (header.seek_free > 0) {
    state.free_list = {static_cast<std::uint64_t>(header.seek_free),
                       static_cast<std::uint64_t>(std::max(header.nbytes_free, 0))};
  }
  if (header.seek_info > 0) {
    state.streamer_info = {static_cast<std::uint64_t>(header.seek_info),
                           static_cast<std::uint64_t>(std::max(header.nbytes_info, 0))};
  }
  TRY_VOID(check_end(state));
  TRY(Space space, read_space(source, state));
  return OpenedContainer{std::move(state), std::move(space)};
}

}  // namespace tfile
