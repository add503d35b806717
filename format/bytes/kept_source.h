// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bytes/kept_bytes.h"
#include "tfile/forwarding_source.h"

namespace tfile {

// A source of which some bytes are in memory: reading them needs no I/O, and of other reads only the rest is read.
class KeptSource : public ForwardingSource {
 public:
  // The last `bytes_max` bytes that were read are kept, without ranges larger than `range_max`; 0: none of them.
  KeptSource(std::shared_ptr<const Source> inner, std::uint64_t bytes_max, std::uint64_t range_max)
      : ForwardingSource(std::move(inner)), kept_(std::make_shared<KeptBytes>(bytes_max)), range_max_(range_max) {}

  Result<> read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const override;
  void start_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                  ReadDone done) const override;
  void start_reads(std::vector<Started> reads) const override;

 protected:
  const std::shared_ptr<KeptBytes> kept_;

 private:
  Started rest_of(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into) const;
  ReadDone keeping(const Started& rest, ReadDone done) const;

  const std::uint64_t range_max_;
};

// A remote source, of which the bytes that were read last are kept: what is read through to reach the wanted
// bytes is wanted next, and a request costs a round trip. Large ranges are not kept, for they are the columns of which
// the chunks are kept.
std::shared_ptr<const Source> keep_bytes(std::shared_ptr<const Source> remote);

}  // namespace tfile
