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

// The members of an object by their path: "fXaxis.fXbins"; items of lists by number: "fAxes.arr.0.fNbins". Big arrays
// stay where they are: views into the payload, which must outlive this. Copies are cheap, and share what was read.
class ObjectMembers {
 public:
  // Errors: those of visit_object, and no_space for more than a million members; beyond these, what stands in a
  // member called fFunctions (what is drawn on top of a histogram) is left out instead.
  static Result<ObjectMembers> read(const StreamerInfos& infos, std::string_view class_name,
                                    std::span<const std::byte> payload, std::uint32_t keylen);

  bool has(std::string_view path) const;

  // The object at this path, or that a reference there means, as one of its own: its members by paths from it.
  ObjectMembers at(std::string_view path) const;
  // Items of the list at this path, those that are nothing included.
  std::size_t item_count(std::string_view path) const;

  // One number or an array of them; text; the class of an object. Nothing where there is no such member.
  const StoredNumbers* numbers(std::string_view path) const;
  std::optional<double> number(std::string_view path) const;
  std::int64_t integer(std::string_view path, std::int64_t otherwise) const;  // beyond 2^53: the nearest double
  std::vector<double> doubles(std::string_view path) const;
  std::string_view text(std::string_view path) const;
  std::string_view class_name(std::string_view path) const;

  // Where the object stands that a reference at this path means (a path from the outermost object: it begins with a
  // dot); the path itself where there is none.
  std::string target(std::string_view path) const;

 private:
  class Collector;
  struct Value {
    enum class Kind : std::uint8_t { numbers, text, object, reference, list } kind = Kind::numbers;
    std::size_t items = 0;  // of a list
    StoredNumbers numbers;
    std::optional<Packing> packing;
    std::string_view text;  // or the class of an object, or the path that a reference means
  };
  const Value* find(std::string_view path) const;
  using Values = std::map<std::string, Value, std::less<>>;
  std::shared_ptr<const Values> values_;
  std::string prefix_;  // of paths: where this object stands in the outermost one
};

}  // namespace tfile
