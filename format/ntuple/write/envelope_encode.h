// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bytes/appender.h"
#include "ntuple/envelope.h"
#include "tfile/range.h"

namespace tfile {

// Appends the pieces of an RNTuple's metadata in the form that ntuple/envelope.h reads.
class EnvelopeAppender {
 public:
  // Little-endian, like all numbers of an envelope.
  template <class T>
  void little(T value) {
    bytes(std::as_bytes(std::span(&value, 1)));
  }
  void text(std::string_view text);
  void bytes(std::span<const std::byte> more) { out_.bytes(more); }
  // The frame of a record, and that of a list of so many items, whose bytes are given.
  void record(std::span<const std::byte> body);
  void list(std::uint32_t items, std::span<const std::byte> body);
  void locator(ByteRange block);
  void link(std::uint64_t length, ByteRange stored);

  std::span<const std::byte> span() const { return out_.span(); }
  std::size_t size() const { return out_.size(); }
  std::vector<std::byte> take() { return out_.take(); }

 private:
  Appender out_;
};

// The items of a list frame, to which more can be added.
struct ListItems {
  std::uint32_t count = 0;
  std::vector<std::byte> bytes;               // each item with its frame
  void add(std::span<const std::byte> body);  // a record
};

// The whole envelope: with preamble and checksum.
std::vector<std::byte> closed_envelope(EnvelopeType, std::span<const std::byte> payload);

// The checksum at the end of an envelope.
std::uint64_t envelope_checksum(std::span<const std::byte> envelope);

}  // namespace tfile
