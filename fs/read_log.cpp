// SPDX-License-Identifier: Apache-2.0
#include "read_log.h"

#include <algorithm>
#include <new>
#include <unordered_set>

namespace tfilefs {
namespace {

// Chunks are noted soon after they were read. More reads than this are not under way at once.
constexpr std::size_t kEntriesLookedFor = 256;

std::vector<tfile::ByteRange> joined(std::span<const tfile::ByteRange> ranges) {
  std::vector<tfile::ByteRange> runs;
  for (const tfile::ByteRange range : ranges) {
    if (range.size == 0) continue;
    if (!runs.empty() && runs.back().end() == range.begin)
      runs.back().size += range.size;
    else
      runs.push_back(range);
  }
  return runs;
}

tfile::EntryRange united(tfile::EntryRange a, tfile::EntryRange b) {
  if (a.size() <= 0) return b;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

}  // namespace

LoggedFile& ReadLog::file_of(const std::string& name) {
  const auto [found, is_new] = files_.try_emplace(name);
  LoggedFile& file = found->second;
  if (!is_new) return file;
  file.number = ++files_seen_;
  file.last_read = reads_;
  if (files_.size() > kFilesMax) {
    const auto oldest = std::ranges::min_element(
        files_, {}, [&](const auto& each) { return &each.second == &file ? UINT64_MAX : each.second.last_read; });
    files_.erase(oldest);
  }
  return file;
}

void ReadLog::add(LoggedFile& file, LoggedRead read) {
  read.number = ++reads_;
  last_.push_back(read);
  if (last_.size() > kReadsMax) last_.pop_front();
  const std::uint64_t begin = read.range.begin, before = file.last_end;
  if (file.reads > 0 && begin != before) {
    ++file.seeks;
    file.bytes_between += std::max(begin, before) - std::min(begin, before);
  }
  ++file.reads;
  file.bytes += read.range.size;
  file.took += read.took;
  file.last_read = read.number;
  file.last_end = read.range.end();
}

void ReadLog::note(const std::string& name, std::uint64_t file_size, std::span<const tfile::ByteRange> ranges,
                   Clock::time_point begin, Clock::time_point end, ReadFrom from) try {
  using Share = std::chrono::duration<double, std::nano>;
  const std::vector<tfile::ByteRange> runs = joined(ranges);
  double total = 0;
  for (const tfile::ByteRange& run : runs) total += static_cast<double>(run.size);
  const Lock lock(mutex_);
  LoggedFile& file = file_of(name);
  file.size = file_size;
  Share at = begin - began_;
  for (const tfile::ByteRange& run : runs) {
    const Share took = Share(end - begin) * (static_cast<double>(run.size) / total);
    add(file, {.file = file.number,
               .from = from,
               .range = run,
               .at = std::chrono::duration_cast<std::chrono::nanoseconds>(at),
               .took = std::chrono::duration_cast<std::chrono::nanoseconds>(took),
               .entries = {}});
    at += took;
  }
} catch (const std::bad_alloc&) {
  return;
}

void ReadLog::note_entries(const std::string& name, std::uint64_t offset, tfile::EntryRange entries) {
  if (entries.size() <= 0) return;
  const Lock lock(mutex_);
  const auto file = files_.find(name);
  if (file == files_.end()) return;
  std::size_t left = kEntriesLookedFor;
  for (auto read = last_.rbegin(); read != last_.rend() && left > 0; ++read, --left) {
    if (read->file != file->second.number || offset < read->range.begin || offset >= read->range.end()) continue;
    read->entries = united(read->entries, entries);
    return;
  }
}

ReadLog::Report ReadLog::report() const {
  const Lock lock(mutex_);
  Report report{Clock::now() - began_, reads_, files_, {}};
  std::unordered_set<std::uint32_t> known;
  for (const auto& [name, file] : files_) known.insert(file.number);
  for (auto read = last_.rbegin(); read != last_.rend(); ++read)
    if (known.contains(read->file)) report.last.push_back(*read);
  return report;
}

}  // namespace tfilefs
