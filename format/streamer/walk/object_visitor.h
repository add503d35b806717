// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "streamer/info/streamer_info.h"
#include "streamer/layout/packing.h"
#include "tfile/node.h"

namespace tfile {

// Numbers of one type as stored in the file: big-endian, or packed (Double32_t, Float16_t).
struct StoredNumbers {
  std::span<const std::byte> bytes;
  Dtype dtype = Dtype::u1;           // of a value
  const Packing* packing = nullptr;  // of packed ones; valid during the call that passes it
  bool is_char = false;              // Char_t: ROOT shows an array of these as text
  std::size_t stored_size() const { return packing ? packing->stored_size() : size_of(dtype); }
  std::size_t count() const { return bytes.size() / stored_size(); }
};

// Converts the values to `double`; `to` has room for count() of them.
void numbers_as_double(const StoredNumbers&, double* to);

// The events of a walk over an object, in the order of its bytes. Each value is exactly one of: an object, a pair, a
// list (from begin to end), number, numbers, text, null, reference, unread. Inside an object or a pair, `member`
// precedes each value. The views point into the payload or the streamer infos.
class ObjectVisitor {
 public:
  virtual ~ObjectVisitor() = default;

  // `identity`: the number that references to this object have; 0 if there can be none (members by value).
  virtual void begin_object(std::string_view class_name, std::uint32_t identity) = 0;
  virtual void end_object() = 0;
  virtual void member(std::string_view name) = 0;

  // One item of a map: members `first` and `second`, then end_object. `type` is the type of the map, or "TMap".
  virtual void begin_pair(std::string_view type) = 0;

  virtual void begin_list() = 0;
  virtual void end_list() = 0;

  virtual void number(const StoredNumbers&) = 0;  // one
  // An array; `shape` as in Column::shape, empty for one dimension.
  virtual void numbers(const StoredNumbers&, std::span<const std::uint32_t> shape) = 0;
  virtual void text(std::string_view) = 0;
  virtual void null() = 0;
  virtual void reference(std::uint32_t identity) = 0;

  // A value whose bytes could not be read; the values after it could.
  virtual void unread(std::string_view reason) = 0;

  // The description by which an object, or a base of it, is read from here on.
  virtual void described_by(const StreamerInfo&) {}

  // A pointer slot begins at this position of the payload. Tells nothing of its value, which follows as any other.
  virtual void slot(std::size_t /*position*/) {}

  // A byte count lies at `begin`, and what it counts ends at `end`.
  virtual void frame(std::size_t /*begin*/, std::size_t /*end*/) {}

  // Tells of the ROOT collection whose items follow: where their number is, and where the last of them ends.
  virtual void collection(std::size_t /*count_at*/, std::size_t /*end*/) {}

  // Whether the visitor needs nothing more, so that the walk may end.
  virtual bool has_enough() const { return false; }
};

}  // namespace tfile
