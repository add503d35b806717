// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "streamer/info/object_append.h"
#include "tree/record/record_outline.h"

namespace tfile {

// A tree's record with some parts rewritten. All other bytes stay as they are, except for words that depend on their
// place: byte counts, class tags and references. If an omitted object is still referred to, the first reference becomes
// its new place.
class RecordEdit {
 public:
  RecordEdit(std::span<const std::byte> payload, const RecordOutline& outline) : payload_(payload), outline_(outline) {}

  using Write = std::function<void(ObjectAppender&)>;

  // Replaces `where` by the output of `write`. Stretches must not overlap.
  void replace(Stretch where, Write write) { edits_.push_back({where, 0, std::move(write)}); }
  // Inserts after the last slot of an array.
  void append(const ArrayPlace& array, Write write) {
    edits_.push_back({{array.end, array.end}, array.count.begin, std::move(write)});
  }
  void remove(Stretch where) {
    replace(where, [](ObjectAppender&) {});
  }

  // The whole record for a key of `keylen` bytes. Call once.
  std::vector<std::byte> write(std::uint32_t keylen);

 private:
  struct Edit {
    Stretch where;
    std::uint32_t inside;  // frames that begin after this position end before the edit
    Write write;
  };
  struct Copying;
  void copy(ObjectAppender&, Stretch, bool edited);
  void copy_mark(ObjectAppender&, const RecordMark&);
  std::span<const std::byte> bytes(std::uint32_t begin, std::uint32_t end) const {
    return payload_.subspan(begin, end - begin);
  }

  std::span<const std::byte> payload_;
  const RecordOutline& outline_;
  std::vector<Edit> edits_;
  std::unordered_map<std::uint32_t, std::size_t> written_;  // by old position of the byte count
  int depth_ = 0;
};

}  // namespace tfile
