// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tfile/forwarding_source.h"
#include "tfile/mutex.h"

namespace tfile {

// A source of which some parts are in memory, its first and last bytes above all: a file begins with its header and
// root directory; list of keys, StreamerInfo and the last trees are at its end. Reads within these parts need no I/O.
class EdgeSource final : public ForwardingSource {
 public:
  // With the first and last bytes held, read in one call. Errors: io. Blocks.
  static Result<std::shared_ptr<const EdgeSource>> over(std::shared_ptr<const Source>);
  // Without any yet.
  using ForwardingSource::ForwardingSource;

  // Reads these ranges in one call, and keeps them. Ranges beyond the end of the file are left out. Errors: io. Blocks;
  // any thread.
  Result<> hold(std::vector<ByteRange>) const;
  // Also by the source, or beyond the end of the file.
  bool is_held(ByteRange) const;
  // Of the kept bytes.
  std::size_t memory() const;

  Result<> read(std::span<const ByteRange>, std::span<const std::span<std::byte>> into) const override;
  void start_read(std::span<const ByteRange>, std::span<const std::span<std::byte>> into, ReadDone) const override;
  void start_reads(std::vector<Started>) const override;

 private:
  struct Window;
  using Held = std::shared_ptr<const std::vector<std::shared_ptr<const Window>>>;

  static Result<> fill(std::vector<Window>&);
  static const std::byte* find(const Held&, ByteRange);
  Held windows() const;
  bool read_held(std::span<const ByteRange>, std::span<const std::span<std::byte>> into) const;

  mutable Mutex mutex_{"EdgeSource::mutex_", "", "a read"};
  mutable Held windows_ GUARDED_BY(mutex_) = std::make_shared<std::vector<std::shared_ptr<const Window>>>();
};

}  // namespace tfile
