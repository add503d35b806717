// SPDX-License-Identifier: Apache-2.0
#include "control/stats.h"

namespace tfilefs {
namespace {

constexpr Figure kFigures[] = {
    {Count::hits, "hits", "read_hits", "Reads answered at once from the cache."},
    {Count::misses, "misses", "read_misses", "Reads that waited for data."},
    {Count::bytes_asked, "bytes_asked", "asked_bytes", "Bytes that readers requested."},
    {Count::wait_ns, "wait_seconds", "wait_seconds", "Time that reads waited for data, summed over reads.", true},
    {Count::read_calls, "read_calls", "source_reads", "Reads of the source."},
    {Count::bytes_read, "bytes_read", "source_read_bytes", "Bytes read from the source."},
    {Count::gap_bytes, "gap_bytes", "source_gap_bytes", "Bytes read only to bridge gaps between wanted ranges."},
    {Count::disk_ns, "disk_seconds", "source_read_seconds", "Time in reads of the source.", true},
    {Count::chunks_decoded, "chunks_decoded", "decoded_chunks", "Baskets decoded."},
    {Count::bytes_decoded, "bytes_decoded", "decoded_bytes", "Bytes of decoded columns."},
    {Count::decode_ns, "decode_seconds", "decode_cpu_seconds", "CPU time of decoding.", true},
    {Count::joined_loads, "joined_loads", "joined_loads", "Chunks that were already being loaded for another reader."},
    {Count::chunks_ahead, "prefetched_chunks", "prefetched_chunks", "Chunks loaded before a reader requested them."},
    {Count::chunks_ahead_used, "prefetched_used", "prefetched_used_chunks",
     "Prefetched chunks that were requested later."},
    {Count::chunks_ahead_lost, "prefetched_unused", "prefetched_unused_chunks",
     "Prefetched chunks that were evicted before they were requested."},
    {Count::bytes_ahead, "prefetched_bytes", "prefetched_source_bytes", "Source bytes of prefetched chunks."},
    {Count::bytes_ahead_used, "prefetched_bytes_used", "prefetched_used_source_bytes",
     "Source bytes of prefetched chunks that were requested later."},
    {Count::evictions, "evictions", "evicted_chunks", "Chunks evicted from the cache."},
};
static_assert(std::size(kFigures) == kCounts);

}  // namespace

std::span<const Figure> figures() { return kFigures; }

}  // namespace tfilefs
