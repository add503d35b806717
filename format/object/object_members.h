// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "streamer/walk/object_visitor.h"
#include "tfile/result.h"

namespace tfile {

// The members of an object by their path: "fXaxis.fXbins"; items of lists by number: "fAxes.arr.0.fNbins". Large arrays
// are views into the payload, which must outlive this object. Copies are cheap and share the members.
class ObjectMembers {
 public:
  // Errors: those of visit_object; no_space for more than a million members. Members inside fFunctions (objects drawn
  // on top of a histogram) do not cause that error: above the limit they are left out.
  static Result<ObjectMembers> read(const StreamerInfos& infos, std::string_view class_name,
                                    std::span<const std::byte> payload, std::uint32_t keylen);

  bool has(std::string_view path) const;

  // The object at this path, or the one to which a reference there points, as a separate object: paths begin at it.
  ObjectMembers at(std::string_view path) const;
  // A list in the payload that is a collection of ROOT's, and its items (`slots`: where their pointers begin).
  struct ListPlace {
    std::size_t count_at = 0, end = 0;
    std::vector<std::size_t> slots;
  };
  // Nothing if an item is null, or another that has no slot.
  std::optional<ListPlace> list_place(std::string_view path) const;

  // The number of items in the list at this path, including null items.
  std::size_t item_count(std::string_view path) const;

  // One number or an array of numbers; text; the class of an object. Empty results if there is no such member.
  const StoredNumbers* numbers(std::string_view path) const;
  std::optional<double> number(std::string_view path) const;
  std::int64_t integer(std::string_view path, std::int64_t otherwise) const;  // above 2^53: the nearest double
  std::vector<double> doubles(std::string_view path) const;
  std::string_view text(std::string_view path) const;
  std::string_view class_name(std::string_view path) const;

  // The path of the object to which a reference at this path points (it begins with a dot, since it starts at the
  // outermost object); without a reference, the path itself.
  std::string target(std::string_view path) const;

 private:
  class Collector;
  struct Value {
    enum class Kind : std::uint8_t { numbers, text, object, reference, list } kind = Kind::numbers;
    std::size_t items = 0;              // of a list
    std::size_t count_at = 0, end = 0;  // of a collection of ROOT's
    std::size_t slot = 0;               // that of an item
    StoredNumbers numbers;
    std::optional<Packing> packing;
    std::string_view text;  // or the class of an object, or the path to which a reference points
  };
  const Value* find(std::string_view path) const;
  using Values = std::map<std::string, Value, std::less<>>;
  std::shared_ptr<const Values> values_;
  std::string prefix_;  // of paths: the place of this object in the outermost one
};

}  // namespace tfile
