// SPDX-License-Identifier: Apache-2.0
#include "container/commit_draft.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "bytes/appender.h"
#include "container/free_list.h"
#include "container/header.h"
#include "container/key.h"
#include "container/payload.h"
#include "tfile/beyond_end.h"
#include "tfile/buffer.h"

namespace tfile {
namespace {

KeyHeader key_header(const CommitDraft::NewKey& key, std::int16_t version, std::uint32_t now) {
  KeyHeader header;
  header.version = version;
  header.datime = key.datime != 0 ? key.datime : now;
  header.cycle = key.cycle;
  header.seek_pdir = static_cast<std::int64_t>(key.directory_seek);
  header.class_name = key.class_name;
  header.name = key.name;
  header.title = key.title;
  header.keylen = static_cast<std::int16_t>(key_size(header));
  return header;
}

// Sets the numbers of the key of a record at `address` that has `stored` bytes after its key.
void set_numbers(KeyHeader& header, std::uint64_t address, std::size_t stored, std::size_t objlen) {
  header.nbytes = header.keylen + static_cast<std::int32_t>(stored);
  header.objlen = static_cast<std::int32_t>(objlen);
  header.seek = static_cast<std::int64_t>(address);
}

// A record in the long form keeps that form.
std::int16_t version_of_form(std::int16_t version, bool wide) {
  return static_cast<std::int16_t>(version + (wide && version < kWideVersion ? kWideVersion : 0));
}

void put(std::vector<std::byte>& into, std::uint64_t at, std::span<const std::byte> bytes) {
  std::ranges::copy(bytes, into.begin() + static_cast<std::ptrdiff_t>(at));
}

// Whether the record at the key's address agrees with the key in the list. If not, its space may belong to another
// record.
bool is_record_of(const Source& source, const ListedKey& key) {
  if (is_beyond_end(key.record, source.size())) return false;
  Buffer bytes(std::min<std::uint64_t>(key.record.size, kKeySizeMin));
  if (bytes.size() < kKeySizeMin || !read_range(source, {key.record.begin, bytes.size()}, bytes.span())) return false;
  // Compares only the fixed part, since the list may have a new name for the key.
  const std::span<const std::byte> listed = std::span(key.bytes).first(kKeyFixedSize);
  return std::ranges::equal(listed, bytes.span().first(kKeyFixedSize));
}

}  // namespace

std::int16_t CommitDraft::version(std::int16_t narrow) const {
  return static_cast<std::int16_t>(narrow + (wide_ ? kWideVersion : 0));
}

void CommitDraft::add_step(std::uint64_t offset, std::vector<std::byte> bytes) {
  steps_.push_back({CommitStep::Kind::write, offset, std::move(bytes)});
}

void CommitDraft::add_sync() { steps_.push_back({CommitStep::Kind::sync, 0, {}}); }

void CommitDraft::abandon() {
  for (const ByteRange& range : taken_) space_.give_back(range);
  taken_.clear();
  space_.forget_released();
}

void CommitDraft::mark_with_parents(std::size_t index) {
  for (std::size_t at = index; at != 0; at = *directory(at).parent) {
    moved_[at] = true;
    directory(*directory(at).parent).changed = true;
  }
}

// New directories, and those that cannot be changed in place, get a new place, which changes the lists of their
// parents. If two lists must change at one instant, all directories on the way to the root move.
void CommitDraft::mark_moves() {
  moved_.assign(state_.directories.size(), false);
  for (bool going = true; going;) {
    going = false;
    for (std::size_t i = 1; i < state_.directories.size(); ++i) {
      const DirectoryState& one = directory(i);
      if (one.removed || moved_[i] || !(one.changed || is_new(i))) continue;
      if (one.together) {
        mark_with_parents(i);
      } else if (is_new(i) || one.renamed || !can_switch_in_place(one, wide_)) {
        moved_[i] = true;
        directory(*one.parent).changed = true;
      }
      going = going || moved_[i];
    }
  }
}

// Checks the header and the root directory, which cannot move.
Result<> CommitDraft::check_root() const {
  if (state_.makes_new_file) return {};
  if (wide_ && !state_.header.big && state_.header.begin < static_cast<std::int64_t>(kHeaderSizeMax))
    return fail(ErrorKind::unsupported, "has no room for a header with addresses above 2 GB");
  const DirectoryState& root = state_.directories.front();
  const bool has_room = root.record.version > kWideVersion || !wide_ || root.record_room() >= kDirectoryRecordSize;
  if (!root.changed || (has_room && (state_.root_in_head || can_switch_in_place(root, wide_)))) return {};
  return fail(ErrorKind::unsupported, "the record of its root directory cannot be changed in one piece");
}

void CommitDraft::place_directory(std::size_t index) {
  DirectoryState& one = directory(index);
  DirectoryState& parent = directory(*one.parent);
  KeyHeader key =
      key_header({one.class_name, one.name, one.title, 1, parent.own.begin, one.datime}, version(kKeyVersion), now_);
  const ByteRange old = one.own;
  const auto length = static_cast<std::uint64_t>(key.keylen);
  one.own = space_.take_in_one_sector(length + kDirectoryRecordSize, length, kDirectoryRecordSize);
  taken_.push_back(one.own);
  release(old);

  const auto listed = std::ranges::find_if(parent.keys, [&](const ListedKey& k) {
    return k.name == one.name && k.class_name == one.class_name && k.record.begin == old.begin;
  });
  key.cycle = listed->cycle;
  set_numbers(key, one.own.begin, kDirectoryRecordSize, kDirectoryRecordSize);
  *listed = listed_key(key);
  listed->written_here = true;

  if (old.size == 0) one.record.created = now_;
  one.record.version = version(kDirectoryVersion);
  one.record.nbytes_name = key.keylen;
  one.record.seek_dir = static_cast<std::int64_t>(one.own.begin);
  one.record.seek_parent = static_cast<std::int64_t>(parent.own.begin);
}

Result<> CommitDraft::place_directories() {
  mark_moves();
  TRY_VOID(check_root());
  // Parents first: the key of a directory has the address of its parent.
  std::vector<bool> placed(state_.directories.size(), false);
  for (bool going = true; going;) {
    going = false;
    for (std::size_t i = 1; i < state_.directories.size(); ++i) {
      if (!moved_[i] || placed[i]) continue;
      const std::size_t parent = *directory(i).parent;
      if (moved_[parent] && !placed[parent]) continue;
      place_directory(i);
      placed[i] = going = true;
    }
  }
  return {};
}

std::uint32_t CommitDraft::keylen(const NewKey& key) const {
  return static_cast<std::uint32_t>(key_header(key, version(kKeyVersion), now_).keylen);
}

ListedKey CommitDraft::add_stored(KeyHeader key, std::span<const std::byte> stored, std::size_t objlen) {
  const ByteRange place = space_.take(static_cast<std::uint64_t>(key.keylen) + stored.size());
  taken_.push_back(place);
  set_numbers(key, place.begin, stored.size(), objlen);
  Appender record;
  append_key(record, key);
  record.bytes(stored);
  add_step(place.begin, record.take());
  ListedKey listed = listed_key(key);
  listed.written_here = true;
  return listed;
}

Result<ListedKey> CommitDraft::add_record(const NewKey& key, std::span<const std::byte> payload) {
  auto stored = stored_payload(payload, compression_);
  if (!stored) stored.error().text.insert(0, std::string(key.name) + ": ");
  TRY(const std::vector<std::byte> bytes, std::move(stored));
  return add_stored(key_header(key, version(kKeyVersion), now_), bytes, payload.size());
}

void CommitDraft::set_streamer_info(ByteRange record) {
  release(state_.streamer_info);
  state_.streamer_info = record;
  state_.header.seek_info = static_cast<std::int64_t>(record.begin);
  state_.header.nbytes_info = static_cast<std::int32_t>(record.size);
}

void CommitDraft::release_removed(const Source* source) {
  std::unordered_set<std::uint64_t> kept;
  if (!state_.removed.empty()) {
    for (const DirectoryState& one : state_.directories) {
      for (const ListedKey& key : one.keys) kept.insert(key.record.begin);
    }
  }
  for (const ListedKey& key : state_.removed) {
    if (kept.contains(key.record.begin)) continue;
    if (key.written_here || (source != nullptr && is_record_of(*source, key))) release(key.record);
  }
  state_.removed.clear();
  for (DirectoryState& one : state_.directories) {
    if (one.removed) release(std::exchange(one.key_list, {}));
  }
}

// Puts the address of the directory into the keys of copied records, in the list and in the file.
void CommitDraft::adopt_copied_keys(DirectoryState& one) {
  for (ListedKey& key : one.keys) {
    if (!std::exchange(key.is_copied, false)) continue;
    const ByteRange address = put_key_directory(key.bytes, one.own.begin);
    const auto bytes = std::span(key.bytes).subspan(address.begin, address.size);
    add_step(key.record.begin + address.begin, {bytes.begin(), bytes.end()});
  }
}

void CommitDraft::write_key_list(DirectoryState& one) {
  adopt_copied_keys(one);
  release(std::exchange(one.key_list, {}));
  one.record.seek_keys = 0;
  one.record.nbytes_keys = 0;
  // ROOT takes a root directory without a list for one that was never written.
  if (one.keys.empty() && one.parent) return;
  std::vector<const std::vector<std::byte>*> keys;
  for (const ListedKey& key : one.keys) keys.push_back(&key.bytes);
  const std::vector<std::byte> payload = encode_key_list(keys);
  const NewKey key{one.class_name, one.name, one.title, 1, one.own.begin};
  one.key_list = add_stored(key_header(key, version(kKeyVersion), now_), payload, payload.size()).record;
  one.record.seek_keys = static_cast<std::int64_t>(one.key_list.begin);
  one.record.nbytes_keys = static_cast<std::int32_t>(one.key_list.size);
}

void CommitDraft::write_directory(std::size_t index) {
  DirectoryState& one = directory(index);
  one.record.modified = now_;
  one.changed = one.together = false;
  if (std::exchange(one.renamed, false)) one.datime = 0;
  if (moved_[index]) {
    const auto& keys = directory(*one.parent).keys;
    const auto key = std::ranges::find(keys, one.own, &ListedKey::record);
    Appender record;
    record.bytes(key->bytes);
    record.bytes(encode_directory_record(one.record, one.uuid));
    return add_step(one.own.begin, record.take());
  }
  one.record.version = version_of_form(one.record.version, wide_);
  if (index == 0 && state_.root_in_head) return;
  RecordPatch patch = record_patch(before_.directories[index], one.record);
  switches_.push_back({CommitStep::Kind::write, patch.address, std::move(patch.bytes)});
}

void CommitDraft::mark_gaps() {
  for (const ByteRange& gap : space_.unmarked()) {
    for (const GapMark& mark : gap_marks(gap)) {
      Appender length;
      length.big(mark.length);
      add_step(mark.address, length.take());
    }
  }
}

// The list is placed at the end, so that its own place does not change it.
void CommitDraft::write_free_list() {
  release(state_.free_list);
  const std::vector<ByteRange> listed = space_.listed();
  const DirectoryState& root = state_.directories.front();
  KeyHeader key = key_header({root.class_name, root.name, root.title, 1, root.own.begin}, version(kKeyVersion), now_);
  const auto size_with_end = [&](std::uint64_t end) {
    return static_cast<std::uint64_t>(key.keylen) + encode_free_list(listed, end).size();
  };
  // The last segment, which begins at the end, takes more bytes if the end lies above 2 GB.
  const std::uint64_t begin = space_.end();
  const std::uint64_t guess = size_with_end(begin);
  const std::uint64_t size = size_with_end(begin + guess);
  state_.free_list = space_.take_last(size);
  taken_.push_back(state_.free_list);
  const std::vector<std::byte> payload = encode_free_list(listed, space_.end());
  set_numbers(key, state_.free_list.begin, payload.size(), payload.size());
  Appender record;
  append_key(record, key);
  record.bytes(payload);
  add_step(state_.free_list.begin, record.take());
  state_.header.nfree = static_cast<std::int32_t>(listed.size() + 1);
}

void CommitDraft::write_head() {
  FileHeader& header = state_.header;
  header.end = static_cast<std::int64_t>(space_.end());
  header.seek_free = static_cast<std::int64_t>(state_.free_list.begin);
  header.nbytes_free = static_cast<std::int32_t>(state_.free_list.size);
  if (wide_ && !header.big) {
    header.big = true;
    header.units = 8;
  }
  if (state_.makes_new_file) {
    state_.head = encode_new_head(state_);
    return;
  }
  put(state_.head, 0, encode_header(header));
  if (!state_.root_in_head) return;
  const RecordPatch patch = record_patch(before_.directories.front(), state_.directories.front().record);
  put(state_.head, patch.address, patch.bytes);
}

CommitPlan CommitDraft::plan() {
  CommitPlan plan;
  plan.size = space_.end();
  plan.replace_file = state_.makes_new_file;
  plan.head_before = before_.head;
  plan.head_after = state_.head;
  if (!plan.replace_file) add_sync();
  add_step(0, state_.head);
  add_sync();
  if (!switches_.empty()) {
    steps_.insert(steps_.end(), switches_.begin(), switches_.end());
    add_sync();
  }
  plan.steps = std::move(steps_);
  return plan;
}

Result<CommitPlan> CommitDraft::finish(const Source* source) {
  release_removed(source);
  if (state_.makes_new_file) {
    DirectoryRecord& root = directory(0).record;
    if (root.created == 0) root.created = now_;
    directory(0).changed = true;
  }
  for (std::size_t i = 0; i < state_.directories.size(); ++i) {
    DirectoryState& one = directory(i);
    if (one.removed) continue;
    if (one.changed) write_key_list(one);
    if (one.changed || moved_[i]) write_directory(i);
  }
  mark_gaps();
  write_free_list();
  write_head();
  return plan();
}

}  // namespace tfile
