// SPDX-License-Identifier: Apache-2.0
#include "container/recover.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "container/free_list.h"
#include "container/key_payload.h"
#include "container/record_walk.h"

namespace tfile {
namespace {

struct FoundKey {
  KeyInfo info;
  std::size_t first_of_name;  // index of the first key of that name
};

// A KeyInfo whose strings are copied into a buffer of their own.
KeyInfo own_key(const KeyHeader& key, std::uint64_t address, std::vector<Buffer>& arena) {
  Buffer strings(key.class_name.size() + key.name.size() + key.title.size());
  char* at = reinterpret_cast<char*>(strings.data());
  const auto keep = [&at](std::string_view text) {
    std::memcpy(at, text.data(), text.size());
    const std::string_view kept(at, text.size());
    at += text.size();
    return kept;
  };
  KeyInfo info = info_of_record(key, address);
  info.class_name = keep(key.class_name);
  info.name = keep(key.name);
  info.title = keep(key.title);
  info.cycle = static_cast<std::uint16_t>(key.cycle);
  info.datime = key.datime;
  arena.push_back(std::move(strings));
  return info;
}

bool is_directory_class(std::string_view name) { return name == "TDirectory" || name == "TDirectoryFile"; }

// The key list of a sub-directory looks like a directory inside it. But its key is not followed by a directory record
// with its own address.
bool is_key_list(const Source& source, const WalkStep& step) {
  const auto record = read_directory_record(source, step.range.begin + static_cast<std::uint64_t>(step.key.keylen));
  return record && record->seek_dir != static_cast<std::int64_t>(step.range.begin);
}

bool is_user_key(const Source& source, const FileHeader& header, const WalkStep& step) {
  const std::string_view class_name = step.key.class_name;
  const auto address = static_cast<std::int64_t>(step.range.begin);
  if (address == header.begin || address == header.seek_free) return false;
  if (class_name.empty() || class_name == "TBasket" || class_name == "RBlob") return false;
  // The root directory's key list and the free list have the class of the file: TFile or a class derived from it.
  if (class_name.starts_with('T') && class_name.ends_with("File") && !is_directory_class(class_name)) return false;
  return !is_directory_class(class_name) || !is_key_list(source, step);
}

// Within each name, the newest cycle comes first; of two keys with equal name and cycle, the one written last.
void sort_keys(std::vector<KeyInfo>& keys) {
  std::unordered_map<std::string_view, std::size_t> first_of_name;
  std::vector<FoundKey> found;
  found.reserve(keys.size());
  for (const KeyInfo& key : keys)
    found.push_back({key, first_of_name.try_emplace(key.name, found.size()).first->second});
  std::sort(found.begin(), found.end(), [](const FoundKey& a, const FoundKey& b) {
    if (a.first_of_name != b.first_of_name) return a.first_of_name < b.first_of_name;
    if (a.info.cycle != b.info.cycle) return a.info.cycle > b.info.cycle;
    if (a.info.datime != b.info.datime) return a.info.datime > b.info.datime;
    return a.info.seek > b.info.seek;
  });
  const auto end = std::unique(found.begin(), found.end(), [](const FoundKey& a, const FoundKey& b) {
    return a.first_of_name == b.first_of_name && a.info.cycle == b.info.cycle;
  });
  keys.clear();
  for (auto key = found.begin(); key != end; ++key) keys.push_back(key->info);
}

}  // namespace

bool needs_recovery(const FileHeader& header, const DirectoryRecord& root, std::uint64_t file_size) {
  if (static_cast<std::uint64_t>(header.end) > file_size) return true;
  if (root.seek_keys > header.begin) return false;
  // A file with only a root directory was just created by another process.
  const std::int64_t record_size = 60;  // as reserved, in both forms (docs/format.md, "Directories")
  const std::int64_t root_end = header.begin + header.nbytes_name + record_size;
  return header.end > root_end || static_cast<std::uint64_t>(root_end) < file_size;
}

Result<Recovered> recover_keys(const Source& source, const FileHeader& header) {
  Recovered recovered;
  std::vector<ByteRange> free_segments;
  if (auto read = read_free_segments(source, header)) free_segments = *std::move(read);
  recovered.followed = true;
  recovered.end = static_cast<std::uint64_t>(header.begin);
  TRY_VOID(walk_records(source, recovered.end, source.size(), free_segments, [&](const WalkStep& step) {
    if (step.kind == WalkStep::Kind::cut || step.kind == WalkStep::Kind::lost) recovered.followed = false;
    if (step.kind != WalkStep::Kind::record) return true;
    recovered.end = step.range.end();
    if (step.key.class_name == "TList" && step.key.name == "StreamerInfo") {
      recovered.streamer_info = step.range;
    } else if (is_user_key(source, header, step)) {
      DirectoryListing& directory = recovered.directories[step.key.seek_pdir];
      directory.keys.push_back(own_key(step.key, step.range.begin, directory.arena));
    }
    return true;
  }));
  for (auto& [address, directory] : recovered.directories) sort_keys(directory.keys);
  return recovered;
}

}  // namespace tfile
