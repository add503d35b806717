// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "container/free_list.h"
#include "container/record_walk.h"

namespace tfile {
namespace {

Record record_of(const WalkStep& step, const FileHeader& header, std::int64_t seek_keys) {
  Record record;
  record.kind = Record::Kind::record;
  record.begin = step.range.begin;
  record.size = step.range.size;
  record.objlen = static_cast<std::uint32_t>(step.key.objlen);
  record.keylen = static_cast<std::uint16_t>(step.key.keylen);
  record.cycle = static_cast<std::uint16_t>(step.key.cycle);
  record.datime = step.key.datime;
  record.class_name = step.key.class_name;
  record.name = step.key.name;
  record.title = step.key.title;
  const auto address = static_cast<std::int64_t>(step.range.begin);
  if (address == header.seek_free) record.class_name = "FreeSegments";
  if (address == header.seek_info) record.class_name = "StreamerInfo";
  if (address == seek_keys) record.class_name = "KeysList";
  return record;
}

void add_plain(std::vector<Record>& map, Record::Kind kind, std::uint64_t begin, std::uint64_t size) {
  if (size == 0) return;
  if (kind == Record::Kind::gap && !map.empty() && map.back().kind == kind) {
    map.back().size += size;
    return;
  }
  Record record;
  record.kind = kind;
  record.begin = begin;
  record.size = size;
  map.push_back(std::move(record));
}

}  // namespace

Result<std::vector<Record>> read_record_map(const Source& source, const FileHeader& header, std::int64_t seek_keys) {
  const std::uint64_t size = source.size();
  const std::uint64_t begin = std::min(static_cast<std::uint64_t>(header.begin), size);
  const std::uint64_t end = std::clamp(static_cast<std::uint64_t>(header.end), begin, size);
  std::vector<ByteRange> free_segments;
  if (auto read = read_free_segments(source, header)) free_segments = *std::move(read);
  std::vector<Record> map;
  add_plain(map, Record::Kind::header, 0, begin);
  TRY_VOID(walk_records(source, begin, end, free_segments, [&](const WalkStep& step) {
    if (step.kind == WalkStep::Kind::record || step.kind == WalkStep::Kind::cut) {
      map.push_back(record_of(step, header, seek_keys));
    } else {
      add_plain(map, Record::Kind::gap, step.range.begin, step.range.size);
    }
    return true;
  }));
  add_plain(map, Record::Kind::trailing, end, size - end);
  return map;
}

}  // namespace tfile
