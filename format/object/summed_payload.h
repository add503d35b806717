// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "object/object_members.h"
#include "streamer/info/streamer_info.h"
#include "streamer/walk/payload_edit.h"
#include "tfile/result.h"

namespace tfile {

// The payload of an object to which others are added, and its members, which are views into it.
struct SummedPayload {
  std::shared_ptr<const StreamerInfos> infos;
  std::string class_name;
  std::vector<std::byte> payload;
  std::uint32_t keylen = 0;
  ObjectMembers members;

  SummedPayload(std::shared_ptr<const StreamerInfos> described_by, std::string name, std::vector<std::byte> bytes,
                std::uint32_t length)
      : infos(std::move(described_by)), class_name(std::move(name)), payload(std::move(bytes)), keylen(length) {}
  SummedPayload(const SummedPayload&) = delete;
  SummedPayload& operator=(const SummedPayload&) = delete;
  SummedPayload(SummedPayload&&) = default;
  SummedPayload& operator=(SummedPayload&&) = default;

  // After each change of the payload's length.
  Result<> read();

  // The class of the object at a path of `members`: "" is the outermost one.
  std::string_view class_at(std::string_view path) const;
  // The bytes of numbers in this payload; none: there is no such member. `part`: of these members.
  std::span<std::byte> bytes_of(const ObjectMembers& part, std::string_view name);
  // Adds to numbers of type f8, one by one, as far as both have them.
  void add_doubles(const ObjectMembers& part, std::string_view name, std::span<const double> values);
  void set_double(const ObjectMembers& part, std::string_view name, double value);
  // The position of bytes of the payload in it.
  std::size_t position_of(std::span<const std::byte> bytes) const;
  Result<PayloadPlaces> places() const { return PayloadPlaces::read(*infos, class_name, payload, keylen); }

  // That a part of the payload of `from` may stand in this one: its classes are described alike. Takes over the
  // descriptions of `from` if it has classes that are not described here. Errors: unsupported.
  Result<> take_descriptions(const SummedPayload& from, const PayloadPlaces& part);
};

// Changes of a payload's length, wherever in it, which are made together.
class PayloadChanges {
 public:
  explicit PayloadChanges(SummedPayload& payload) : payload_(payload) {}

  // Bytes in place of others, or in front of an empty piece of the payload.
  void replace(std::span<const std::byte> old, std::vector<std::byte> bytes);
  // Bytes of another payload, which stay there, behind those of this one. They have no pointers.
  void append(std::span<const std::byte> behind, std::span<const std::byte> more);
  void set_i4(std::span<const std::byte> old, std::int32_t value);
  void set_text(std::string_view old, std::string_view text);
  void add(PayloadChange change) { changes_.push_back(std::move(change)); }

  // Reads the members anew.
  Result<> apply();

 private:
  SummedPayload& payload_;
  std::vector<PayloadChange> changes_;
  std::deque<std::vector<std::byte>> bytes_;  // those that are in no payload
};

// Numbers of the same type, as many of both; a name may be missing in both. Errors: unsupported.
Result<> add_members(SummedPayload& to, const std::string& path, const SummedPayload& from,
                     std::span<const char* const> names);

// Adds numbers of the same type to each other: as many as `from` has, which `to` has, too. Integers stay within their
// type, and away from its lowest value, as in ROOT.
void add_stored(std::span<std::byte> to, const StoredNumbers& from);

}  // namespace tfile
