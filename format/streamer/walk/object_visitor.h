// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "streamer/layout/packing.h"
#include "tfile/node.h"

namespace tfile {

// Numbers of one type as they lie in the file: big-endian, or packed (Double32_t, Float16_t).
struct StoredNumbers {
  std::span<const std::byte> bytes;
  Dtype dtype = Dtype::u1;           // of a value
  const Packing* packing = nullptr;  // for packed ones; lives as long as the call that hands it over
  bool is_char = false;              // Char_t: an array of them is text to ROOT
  std::size_t stored_size() const { return packing ? packing->stored_size() : size_of(dtype); }
  std::size_t count() const { return bytes.size() / stored_size(); }
};

// The values as `double`; `to` has room for count().
void numbers_as_double(const StoredNumbers&, double* to);

// What ObjectReader tells of an object, in the order of its bytes. Each value is told by exactly one of: an object, a
// pair, a list (from begin to end), number, numbers, text, null, reference, unread. Inside an object or a pair each is
// announced by `member`. The views are into the payload or the streamer infos.
class ObjectVisitor {
 public:
  virtual ~ObjectVisitor() = default;

  // `identity`: what a reference to this object will name; 0 for what cannot be referred to (members by value).
  virtual void begin_object(std::string_view class_name, std::uint32_t identity) = 0;
  virtual void end_object() = 0;
  virtual void member(std::string_view name) = 0;

  // One item of a map: members `first` and `second`, ended by end_object. `type` is the map's, or "TMap".
  virtual void begin_pair(std::string_view type) = 0;

  virtual void begin_list() = 0;
  virtual void end_list() = 0;

  virtual void number(const StoredNumbers&) = 0;  // one
  // An array; `shape` as in Column::shape, empty for one dimension.
  virtual void numbers(const StoredNumbers&, std::span<const std::uint32_t> shape) = 0;
  virtual void text(std::string_view) = 0;
  virtual void null() = 0;
  virtual void reference(std::uint32_t identity) = 0;

  // A value whose bytes could not be read; what follows it could.
  virtual void unread(std::string_view reason) = 0;

  // Whether it takes nothing more, so that the walk may end.
  virtual bool has_enough() const { return false; }
};

}  // namespace tfile
