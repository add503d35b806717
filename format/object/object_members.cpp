// SPDX-License-Identifier: Apache-2.0
#include "object/object_members.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "streamer/object_reader.h"

namespace tfile {
namespace {

// A histogram has some hundred members; a THnSparse ten for each 16 k of its bins.
constexpr std::size_t kMembersMax = 1'000'000;
// Paths of names that a file makes long to fill memory are no members of anything drawn here.
constexpr std::size_t kPathMax = 500;

}  // namespace

class ObjectMembers::Collector final : public ObjectVisitor {
 public:
  explicit Collector(ObjectMembers& to) : to_(to) {}
  bool has_too_many() const { return too_many_; }

  void begin_object(std::string_view class_name, std::uint32_t identity) override {
    enter();
    if (Value* value = add()) {
      value->kind = Value::Kind::object;
      value->text = class_name;
      if (identity != 0) places_[identity] = to_.values_.find(path_)->first;
    }
    levels_.push_back({path_.size(), false, 0});
  }
  void end_object() override { leave(); }
  void begin_pair(std::string_view) override {
    enter();
    levels_.push_back({path_.size(), false, 0});
  }
  void begin_list() override {
    enter();
    levels_.push_back({path_.size(), true, 0});
  }
  void end_list() override { leave(); }
  void member(std::string_view name) override {
    path_.resize(levels_.empty() ? 0 : levels_.back().path_size);
    append(name);
    if (skipped_ && levels_.size() <= *skipped_) skipped_.reset();
    if (!skipped_ && name == "fFunctions") skipped_ = levels_.size();
  }
  void number(const StoredNumbers& one) override { numbers(one, {}); }
  void numbers(const StoredNumbers& all, std::span<const std::uint32_t>) override {
    enter();
    if (Value* value = add()) {
      value->numbers = all;
      if (all.packing) value->packing = *all.packing;
    }
  }
  void text(std::string_view text) override {
    enter();
    if (Value* value = add()) {
      value->kind = Value::Kind::text;
      value->text = text;
    }
  }
  void null() override { enter(); }
  void reference(std::uint32_t identity) override {
    enter();
    const auto place = places_.find(identity);
    if (place == places_.end()) return;
    if (Value* value = add()) {
      value->kind = Value::Kind::reference;
      value->text = place->second;
    }
  }
  void unread(std::string_view) override { enter(); }

 private:
  struct Level {
    std::size_t path_size;
    bool is_list;
    std::size_t next;
  };
  void append(std::string_view name) {
    if (!path_.empty()) path_ += '.';
    path_ += name.substr(0, kPathMax);
  }
  // A value of a list has the next number.
  void enter() {
    if (levels_.empty() || !levels_.back().is_list) return;
    path_.resize(levels_.back().path_size);
    append(std::to_string(levels_.back().next++));
  }
  void leave() {
    if (levels_.empty()) return;
    path_.resize(levels_.back().path_size);
    levels_.pop_back();
    if (skipped_ && levels_.size() < *skipped_) skipped_.reset();
  }
  Value* add() {
    if (skipped_ || path_.size() > kPathMax) return nullptr;
    if (to_.values_.size() >= kMembersMax) {
      too_many_ = true;
      return nullptr;
    }
    return &to_.values_[path_];
  }

  ObjectMembers& to_;
  std::string path_;
  std::vector<Level> levels_;
  std::unordered_map<std::uint32_t, std::string_view>
      places_;                          // of objects: keys of the map, which stay where they are
  std::optional<std::size_t> skipped_;  // depth of the object whose fFunctions is being told
  bool too_many_ = false;
};

Result<ObjectMembers> ObjectMembers::read(const StreamerInfos& infos, std::string_view class_name,
                                          std::span<const std::byte> payload, std::uint32_t keylen) {
  ObjectMembers members;
  Collector collector(members);
  TRY_VOID(visit_object(infos, class_name, payload, keylen, collector));
  if (collector.has_too_many()) return fail(ErrorKind::unsupported, "object: more than a million members");
  for (auto& [path, value] : members.values_) {
    if (value.packing) value.numbers.packing = &*value.packing;
  }
  return members;
}

const ObjectMembers::Value* ObjectMembers::find(std::string_view path) const {
  const auto found = values_.find(path);
  return found == values_.end() ? nullptr : &found->second;
}

const StoredNumbers* ObjectMembers::numbers(std::string_view path) const {
  const Value* value = find(path);
  return value && value->kind == Value::Kind::numbers ? &value->numbers : nullptr;
}

std::optional<double> ObjectMembers::number(std::string_view path) const {
  const StoredNumbers* stored = numbers(path);
  if (!stored || stored->count() != 1) return std::nullopt;
  double value = 0;
  numbers_as_double(*stored, &value);
  return value;
}

std::int64_t ObjectMembers::integer(std::string_view path, std::int64_t otherwise) const {
  constexpr double kMax = 9e18;  // within 64 bits
  const auto value = number(path);
  return value && std::abs(*value) < kMax ? static_cast<std::int64_t>(*value) : otherwise;
}

std::vector<double> ObjectMembers::doubles(std::string_view path) const {
  const StoredNumbers* stored = numbers(path);
  if (!stored) return {};
  std::vector<double> values(stored->count());
  numbers_as_double(*stored, values.data());
  return values;
}

std::string_view ObjectMembers::text(std::string_view path) const {
  const Value* value = find(path);
  return value && value->kind == Value::Kind::text ? value->text : std::string_view();
}

std::string ObjectMembers::target(std::string_view path) const {
  const Value* value = find(path);
  return std::string(value && value->kind == Value::Kind::reference ? value->text : path);
}

std::string_view ObjectMembers::class_name(std::string_view path) const {
  const Value* value = find(path);
  return value && value->kind == Value::Kind::object ? value->text : std::string_view();
}

}  // namespace tfile
