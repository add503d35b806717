// SPDX-License-Identifier: Apache-2.0
#include "control/stats.h"

namespace tfilefs {
namespace {

constexpr Figure kFigures[] = {
    {Count::hits, "hits", "read_hits", "Reads answered at once from the cache."},
    {Count::misses, "misses", "read_misses", "Reads that had to wait for data."},
    {Count::bytes_asked, "bytes_asked", "asked_bytes", "Bytes that readers asked for."},
    {Count::wait_ns, "wait_seconds", "wait_seconds", "Time that reads waited for data, each by itself.", true},
    {Count::read_calls, "read_calls", "source_reads", "Reads of the source."},
    {Count::bytes_read, "bytes_read", "source_read_bytes", "Bytes read from the source."},
    {Count::gap_bytes, "gap_bytes", "source_gap_bytes", "Bytes read through between what was wanted."},
    {Count::disk_ns, "disk_seconds", "source_read_seconds", "Time in reads of the source.", true},
    {Count::chunks_decoded, "chunks_decoded", "decoded_chunks", "Baskets decoded."},
    {Count::bytes_decoded, "bytes_decoded", "decoded_bytes", "Bytes of columns that came of decoding."},
    {Count::decode_ns, "decode_seconds", "decode_cpu_seconds", "CPU time of decoding.", true},
    {Count::joined_loads, "joined_loads", "joined_loads", "Chunks that were on their way for another reader already."},
    {Count::chunks_ahead, "prefetched_chunks", "prefetched_chunks", "Chunks loaded before a reader asked."},
    {Count::chunks_ahead_used, "prefetched_used", "prefetched_used_chunks", "Of these, asked for later."},
    {Count::chunks_ahead_lost, "prefetched_unused", "prefetched_unused_chunks",
     "Of these, gone before they were asked for."},
    {Count::bytes_ahead, "prefetched_bytes", "prefetched_source_bytes", "Bytes of the source in chunks loaded ahead."},
    {Count::bytes_ahead_used, "prefetched_bytes_used", "prefetched_used_source_bytes",
     "Of these, in chunks that were asked for later."},
    {Count::evictions, "evictions", "evicted_chunks", "Chunks that left the cache for others."},
};
static_assert(std::size(kFigures) == kCounts);

}  // namespace

std::span<const Figure> figures() { return kFigures; }

}  // namespace tfilefs
