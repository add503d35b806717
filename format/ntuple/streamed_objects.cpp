// SPDX-License-Identifier: Apache-2.0
#include "ntuple/streamed_objects.h"

#include <cstring>
#include <limits>

#include "bytes/cursor.h"
#include "streamer/info/type_name.h"

namespace tfile {
namespace {

constexpr std::uint32_t kNewClassTag = 0xFFFFFFFF;

// The size of the header of the first object in a buffer: a byte count, the tag of a new class, the name of the class.
std::size_t object_header_size(std::span<const std::byte> bytes) {
  Cursor in(bytes);
  in.big<std::uint32_t>("object");
  if (in.big<std::uint32_t>("object") != kNewClassTag) return bytes.size();
  while (!in.failed() && in.big<std::uint8_t>("class name") != 0) {
  }
  return in.failed() ? bytes.size() : bytes.size() - in.left();
}

}  // namespace

StreamerInfos read_streamer_infos(const std::string& content, std::vector<std::string>& warnings) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(content));
  const std::size_t header = object_header_size(bytes);
  // Object tags count from the start of the buffer.
  return StreamerInfos::read(bytes.subspan(header), static_cast<std::uint32_t>(header), warnings);
}

Result<Layout> layout_of_class(const StreamerInfos& infos, const std::string& class_name) {
  LayoutCompiler compiler(infos, nullptr, {.is_last_look = true});
  Layout layout;
  TRY(layout.shape, compiler.value(parse_type_name(class_name), ValueIn::member));
  if (!layout.shape.has_columns())
    return fail(ErrorKind::unsupported,
                infos.newest(class_name) ? "it has no members" : "no StreamerInfo describes class " + class_name);
  layout.program = compiler.finish();
  return layout;
}

Result<Chunk> decode_objects(const Program& program, std::span<const std::int64_t> ends, std::int64_t begin,
                             std::span<const std::span<const std::byte>> pieces, std::span<const std::int64_t> first,
                             std::vector<std::int64_t>* items) {
  std::size_t size = 0;
  for (const auto piece : pieces) size += piece.size();
  if (size > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    return fail(ErrorKind::unsupported, "cluster has more than 2 GB of streamed objects");
  Buffer bytes(size);
  std::size_t at = 0;
  for (const auto piece : pieces) {
    if (!piece.empty()) std::memcpy(bytes.data() + at, piece.data(), piece.size());
    at += piece.size();
  }
  std::vector<std::int32_t> offsets(1, 0);
  for (const std::int64_t end : ends) {
    if (end < begin + offsets.back() || end - begin > static_cast<std::int64_t>(size))
      return fail(ErrorKind::damaged, "streamed object " + std::to_string(offsets.size() - 1) + " ends at byte " +
                                          std::to_string(end - begin) + ", after " + std::to_string(offsets.back()) +
                                          " of " + std::to_string(size));
    offsets.push_back(static_cast<std::int32_t>(end - begin));
  }
  Entries entries{bytes.span(), offsets, static_cast<std::int64_t>(ends.size())};
  // The tags of each object count from its own first byte.
  entries.displacement = std::span(offsets).first(ends.size());
  return run_program(program, entries, first, items);
}

}  // namespace tfile
