// SPDX-License-Identifier: Apache-2.0
#include "repack/read_inputs.h"

#include <algorithm>
#include <utility>

namespace tfilefs {
namespace {

// Places of one source that are read as one range.
struct Joined {
  tfile::ByteRange range;
  std::vector<std::size_t> places;
};

std::vector<Joined> join(std::span<const tfile::Locator> all, std::span<const std::size_t> order, std::uint64_t gap,
                         std::uint64_t size_max) {
  std::vector<Joined> joined;
  for (const std::size_t i : order) {
    const tfile::ByteRange range = all[i].range;
    const bool is_near = !joined.empty() && range.begin <= joined.back().range.end() + gap &&
                         range.end() - joined.back().range.begin <= size_max;
    if (!is_near) {
      joined.push_back({range, {i}});
      continue;
    }
    Joined& last = joined.back();
    last.range.size = std::max(last.range.end(), range.end()) - last.range.begin;
    last.places.push_back(i);
  }
  return joined;
}

class Reading {
 public:
  Reading(const tfile::Source& source, std::span<const tfile::Locator> all, StoredInputs& into)
      : source_(source), all_(all), into_(into), traits_(source.traits()) {}

  void run(std::span<const std::size_t> order) {
    const std::vector<Joined> joined = join(all_, order, traits_.gap_free, traits_.request_max);
    for (std::size_t first = 0; first < joined.size();) {
      std::size_t count = 0;
      for (std::uint64_t bytes = 0; first + count < joined.size() && count < traits_.ranges_max; ++count) {
        bytes += joined[first + count].range.size;
        if (bytes > traits_.request_max && count > 0) break;
      }
      read(std::span(joined).subspan(first, count));
      first += count;
    }
  }

 private:
  void read(std::span<const Joined> joined) {
    std::vector<tfile::ByteRange> ranges;
    std::vector<std::span<std::byte>> parts;
    const std::size_t first = into_.memory.size();
    for (const Joined& each : joined) {
      ranges.push_back(each.range);
      into_.memory.emplace_back(each.range.size);
    }
    for (std::size_t i = 0; i < joined.size(); ++i) parts.push_back(into_.memory[first + i].span());
    const Result<> done = source_.read(ranges, parts);
    if (!done && (joined.size() > 1 || joined[0].places.size() > 1)) {
      into_.memory.resize(first);
      return read_each(joined);
    }
    for (std::size_t i = 0; i < joined.size(); ++i) give(joined[i], into_.memory[first + i], done);
  }

  // Each by itself, so that one does not affect the others.
  void read_each(std::span<const Joined> joined) {
    for (const Joined& each : joined) {
      for (const std::size_t place : each.places) {
        const Joined alone{all_[place].range, {place}};
        read(std::span(&alone, 1));
      }
    }
  }

  void give(const Joined& joined, const tfile::Buffer& memory, const Result<>& done) {
    for (const std::size_t place : joined.places) {
      const tfile::ByteRange range = all_[place].range;
      if (!done) {
        into_.bytes[place] = tl::unexpected(done.error());
      } else {
        into_.bytes[place] = memory.span().subspan(range.begin - joined.range.begin, range.size);
      }
    }
  }

  const tfile::Source& source_;
  const std::span<const tfile::Locator> all_;
  StoredInputs& into_;
  const tfile::SourceTraits traits_;
};

}  // namespace

StoredInputs read_inputs(std::span<const tfile::Locator> places) {
  StoredInputs found;
  found.bytes.resize(places.size(), std::span<const std::byte>());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const tfile::Locator& at = places[i];
    if (at.source == nullptr) {
      found.bytes[i] = at.embedded;
    } else if (at.range.begin > at.source->size() || at.range.size > at.source->size() - at.range.begin) {
      found.bytes[i] =
          tfile::fail(ErrorKind::damaged, "beyond the end of the file", static_cast<std::int64_t>(at.range.begin));
    } else {
      order.push_back(i);
    }
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(places[i].source, places[i].range.begin); });
  for (std::size_t first = 0; first < order.size();) {
    const tfile::Source* source = places[order[first]].source;
    std::size_t end = first;
    while (end < order.size() && places[order[end]].source == source) ++end;
    Reading(*source, places, found).run(std::span(order).subspan(first, end - first));
    first = end;
  }
  return found;
}

}  // namespace tfilefs
