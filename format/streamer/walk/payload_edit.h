// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/result.h"

namespace tfile {

// The places of a payload that depend on places: byte counts, class tags and references. Views into the payload.
class PayloadPlaces {
 public:
  // Errors: unsupported (a part cannot be read, so that what is in it is not known), damaged.
  static Result<PayloadPlaces> read(const StreamerInfos&, std::string_view class_name,
                                    std::span<const std::byte> payload, std::uint32_t keylen);

  // A byte count at `begin`, and the end of what it counts.
  struct Frame {
    std::size_t begin = 0, end = 0;
  };
  // A pointer slot, which has a tag at `tag`.
  struct Slot {
    enum class Kind : std::uint8_t { null, reference, object } kind = Kind::null;
    std::size_t begin = 0, tag = 0;
    std::size_t end = 0;         // of the tag, with the name of a class that follows
    std::uint32_t identity = 0;  // by which others refer to the object
    std::string_view class_name;
  };

  std::span<const std::byte> payload() const { return payload_; }
  std::uint32_t keylen() const { return keylen_; }
  const std::vector<Frame>& frames() const { return frames_; }  // in the order of `begin`; so are the slots
  const std::vector<Slot>& slots() const { return slots_; }
  // Descriptions by which the objects in it are read.
  const std::vector<const StreamerInfo*>& infos() const { return infos_; }
  // The end of the object or reference in the slot that begins there; 0 if none does.
  std::size_t end_of_slot(std::size_t begin) const;

 private:
  class Finder;
  Result<> read_slots(std::span<const std::size_t> positions);

  std::span<const std::byte> payload_;
  std::uint32_t keylen_ = 0;
  std::vector<Frame> frames_;
  std::vector<Slot> slots_;
  std::vector<const StreamerInfo*> infos_;
};

// A part of a payload; with no places: plain bytes.
struct PayloadPart {
  std::span<const std::byte> bytes;
  const PayloadPlaces* places = nullptr;  // of the payload of which these bytes are
};

// Bytes of a payload that others take the place of.
struct PayloadChange {
  std::size_t begin = 0, end = 0;  // equal: nothing goes
  std::vector<PayloadPart> parts;
  // If nothing goes: what has a byte count here or behind, and ends at `begin`, is in front of the change; else the
  // change is in it.
  std::size_t within = SIZE_MAX;
};

// The payload with these changes, in the order of their positions. Everything that depends on places is written anew.
// Errors: unsupported (an object refers to one that is not there any more, or not taken along), damaged (a change is
// not at the bounds of what has a byte count).
Result<std::vector<std::byte>> change_payload(const PayloadPlaces&, std::span<const PayloadChange>);

// The payload with references that count from the start of another key, of another length. Errors: as above.
Result<std::vector<std::byte>> move_references(const StreamerInfos&, std::string_view class_name,
                                               std::span<const std::byte> payload, std::uint32_t keylen,
                                               std::uint32_t new_keylen);

}  // namespace tfile
