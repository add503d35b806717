// SPDX-License-Identifier: Apache-2.0
#include "tfile/record_check.h"

#include <algorithm>
#include <new>

#include "container/free_list.h"
#include "container/key_payload.h"
#include "container/payload.h"
#include "container/payload_blocks.h"
#include "container/record_walk.h"
#include "tfile/beyond_end.h"

namespace tfile {
namespace {

// A large one block by block.
Result<> check_record(const File& file, const WalkStep& step) {
  const KeyInfo key = info_of_record(step.key, step.range.begin);
  if (!File::is_large(key)) {
    TRY_VOID(read_record(file.source(), step.range));
    return {};
  }
  TRY(const auto blocks, PayloadBlocks::open(file.shared_source(), key));
  for (std::size_t block = 0; block < blocks->count(); ++block) {
    TRY_VOID(blocks->block(block));
  }
  return {};
}

Result<> check_step(const File& file, const WalkStep& step) {
  const auto at = static_cast<std::int64_t>(step.range.begin);
  switch (step.kind) {
    case WalkStep::Kind::gap:
      return {};
    case WalkStep::Kind::lost:
      return fail(ErrorKind::damaged, "neither a record nor free space: " + std::to_string(step.range.size) + " bytes",
                  at);
    case WalkStep::Kind::cut:
      return fail(ErrorKind::damaged,
                  "record of " + std::to_string(step.key.nbytes) + " bytes extends beyond the end of the file, after " +
                      std::to_string(file.source().size() - step.range.begin),
                  at);
    case WalkStep::Kind::record:
      break;
  }
  if (step.key.class_name == "RBlob") return {};
  try {
    TRY_VOID(check_record(file, step));
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::no_space, "out of memory for a record of " + std::to_string(step.range.size) + " bytes", at);
  }
  return {};
}

}  // namespace

Result<RecordCheck> check_records(const File& file, const std::function<bool(std::uint64_t address)>& known) {
  const Source& source = file.source();
  const FileHeader& header = file.header();
  const std::uint64_t begin = std::min(static_cast<std::uint64_t>(header.begin), source.size());
  const std::uint64_t end = std::clamp(static_cast<std::uint64_t>(header.end), begin, source.size());
  RecordCheck check;
  if (auto read = read_free_segments(source, header)) check.free = *std::move(read);
  TRY_VOID(walk_records(source, begin, end, check.free, [&](const WalkStep& step) {
    check.records += step.kind == WalkStep::Kind::record ? 1 : 0;
    if (step.kind == WalkStep::Kind::gap) check.gaps.push_back(step.range);
    if (step.kind == WalkStep::Kind::record && known(step.range.begin)) return true;
    if (auto checked = check_step(file, step); !checked) {
      RecordError wrong{std::string(step.key.class_name), std::string(step.key.name), checked.error()};
      if (wrong.error.offset < 0) wrong.error.offset = static_cast<std::int64_t>(step.range.begin);
      check.errors.push_back(std::move(wrong));
    }
    return true;
  }));
  return check;
}

Result<> check_key_in_record(const File& file, const KeyInfo& key) {
  const auto at = static_cast<std::int64_t>(key.seek);
  const Source& source = file.source();
  if (is_beyond_end({key.seek, key.keylen}, source.size()))
    return fail_beyond_end("key: ", {key.seek, key.keylen}, source.size());
  Buffer bytes(key.keylen);
  TRY_VOID(read_range(source, {key.seek, bytes.size()}, bytes.span()));
  Cursor in(bytes.span(), at);
  const KeyHeader own = read_key(in);
  if (!in.failed() && static_cast<std::uint32_t>(own.nbytes) == key.nbytes &&
      own.keylen == static_cast<std::int32_t>(key.keylen) && own.class_name == key.class_name && own.name == key.name)
    return {};
  KeyHeader listed;
  listed.nbytes = static_cast<std::int32_t>(key.nbytes);
  listed.keylen = static_cast<std::int16_t>(key.keylen);
  listed.class_name = key.class_name;
  listed.name = key.name;
  return not_the_listed(own, listed, key.seek);
}

}  // namespace tfile
