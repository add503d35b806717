// SPDX-License-Identifier: Apache-2.0
#include "container/edge_source.h"

#include <algorithm>

#include "tfile/beyond_end.h"
#include "tfile/read_together.h"

namespace tfile {
namespace {

// The header; and the list of keys, with the StreamerInfo of some dozen classes.
constexpr std::uint64_t kBeginSize = 4096, kEndSize = 64 << 10;

}  // namespace

// A remote source holds its ends itself.
Result<std::shared_ptr<const EdgeSource>> EdgeSource::over(std::shared_ptr<const Source> source) {
  const bool holds_ends = source->traits().end_held > 0;
  const std::uint64_t size = source->size();
  const auto edges = std::make_shared<const EdgeSource>(std::move(source));
  if (holds_ends) return edges;
  const std::uint64_t begin = std::min(size, kBeginSize), end = std::min(size - begin, kEndSize);
  TRY_VOID(edges->hold({{0, begin}, {size - end, end}}));
  return edges;
}

Result<> EdgeSource::hold(const std::vector<ByteRange>& ranges) const {
  std::vector<WantedBytes> wanted;
  for (const ByteRange range : ranges)
    if (!is_held(range)) wanted.push_back({inner_.get(), range});
  const std::vector<Buffer> memory = read_together(wanted);
  for (const WantedBytes& one : wanted)
    if (!one.bytes) return tl::unexpected<Error>(one.bytes.error());
  for (const WantedBytes& one : wanted) kept_->keep(one.range.begin, *one.bytes);
  return {};
}

std::size_t EdgeSource::memory() const {
  const SourceTraits traits = inner_->traits();
  return sizeof *this + traits.begin_held + traits.end_held + kept_->size();
}

bool EdgeSource::is_held(ByteRange range) const {
  if (range.size == 0 || is_beyond_end(range, size())) return true;  // not to be read; or damaged
  return is_in_memory(range, inner_->traits(), size()) || kept_->has(range);
}

}  // namespace tfile
