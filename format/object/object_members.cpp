// SPDX-License-Identifier: Apache-2.0
#include "object/object_members.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "streamer/walk/object_reader.h"

namespace tfile {
namespace {

// A histogram has some hundred members; a THnSparse has ten per 16 k of its bins.
constexpr std::size_t kMembersMax = 1'000'000;
// Paths longer than this do not belong to anything that is drawn: a file may have long names to fill memory.
constexpr std::size_t kPathMax = 500;

}  // namespace

class ObjectMembers::Collector final : public ObjectVisitor {
 public:
  explicit Collector(Values& to) : to_(to) {}
  bool has_too_many() const { return too_many_; }

  void begin_object(std::string_view class_name, std::uint32_t identity) override {
    enter();
    if (Value* value = add()) {
      value->slot = std::exchange(slot_, 0);
      value->kind = Value::Kind::object;
      value->text = class_name;
      if (identity != 0) places_[identity] = to_.find(path_)->first;
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
    if (Value* value = add()) {
      value->kind = Value::Kind::list;
      value->count_at = std::exchange(count_at_, 0);
      value->end = end_;
    }
    levels_.push_back({path_.size(), true, 0});
  }
  void end_list() override {
    const std::size_t items = levels_.empty() ? 0 : levels_.back().next;
    leave();
    const auto list = to_.find(path_);
    if (list != to_.end() && list->second.kind == Value::Kind::list) list->second.items = items;
  }
  void member(std::string_view name) override {
    path_.resize(levels_.empty() ? 0 : levels_.back().path_size);
    append(name);
    if (aside_ && levels_.size() <= *aside_) aside_.reset();
    if (!aside_ && name == "fFunctions") aside_ = levels_.size();
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
      value->slot = std::exchange(slot_, 0);
      value->kind = Value::Kind::reference;
      value->text = place->second;
    }
  }
  void unread(std::string_view) override { enter(); }
  void slot(std::size_t position) override { slot_ = position; }
  void collection(std::size_t count_at, std::size_t end) override {
    count_at_ = count_at;
    end_ = end;
  }

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
  // A value in a list gets the next number as its name.
  void enter() {
    if (levels_.empty() || !levels_.back().is_list) return;
    path_.resize(levels_.back().path_size);
    append(std::to_string(levels_.back().next++));
  }
  void leave() {
    if (levels_.empty()) return;
    path_.resize(levels_.back().path_size);
    levels_.pop_back();
    if (aside_ && levels_.size() < *aside_) aside_.reset();
  }
  Value* add() {
    if (path_.size() > kPathMax) return nullptr;
    if (to_.size() >= kMembersMax) {
      if (!aside_) too_many_ = true;
      return nullptr;
    }
    return &to_[path_];
  }

  Values& to_;
  std::string path_;
  std::vector<Level> levels_;
  std::unordered_map<std::uint32_t, std::string_view> places_;  // of objects: keys of the map, which never move
  std::optional<std::size_t> aside_;                            // depth of the object whose fFunctions is being read
  bool too_many_ = false;
  std::size_t slot_ = 0, count_at_ = 0, end_ = 0;  // of the value that is told next
};

Result<ObjectMembers> ObjectMembers::read(const StreamerInfos& infos, std::string_view class_name,
                                          std::span<const std::byte> payload, std::uint32_t keylen) {
  auto values = std::make_shared<Values>();
  Collector collector(*values);
  TRY_VOID(visit_object(infos, class_name, payload, keylen, collector));
  if (collector.has_too_many()) return fail(ErrorKind::no_space, "object: more than a million members");
  for (auto& [path, value] : *values) {
    if (value.packing) value.numbers.packing = &*value.packing;
  }
  ObjectMembers members;
  members.values_ = std::move(values);
  return members;
}

const ObjectMembers::Value* ObjectMembers::find(std::string_view path) const {
  if (!values_) return nullptr;
  const bool is_whole = path.starts_with('.');  // begins at the outermost object
  std::string composed;
  if (is_whole) {
    path.remove_prefix(1);
    if (path.starts_with('.')) path.remove_prefix(1);  // means the outermost object itself
  } else if (!prefix_.empty()) {
    composed = path.empty() ? prefix_ : prefix_ + "." + std::string(path);
    path = composed;
  }
  const auto found = values_->find(path);
  return found == values_->end() ? nullptr : &found->second;
}

bool ObjectMembers::has(std::string_view path) const {
  const Value* value = find(path);
  return value && value->kind != Value::Kind::list;
}

ObjectMembers ObjectMembers::at(std::string_view path) const {
  const std::string place = target(path);
  ObjectMembers part = *this;
  if (place.starts_with('.'))
    part.prefix_ = place.substr(1);
  else if (!place.empty())
    part.prefix_ = prefix_.empty() ? place : prefix_ + "." + place;
  return part;
}

std::size_t ObjectMembers::item_count(std::string_view path) const {
  const Value* value = find(path);
  return value && value->kind == Value::Kind::list ? value->items : 0;
}

std::optional<ObjectMembers::ListPlace> ObjectMembers::list_place(std::string_view path) const {
  const Value* list = find(path);
  if (!list || list->kind != Value::Kind::list || list->count_at == 0) return std::nullopt;
  ListPlace place{list->count_at, list->end, {}};
  for (std::size_t i = 0; i < list->items; ++i) {
    const Value* item = find(std::string(path) + "." + std::to_string(i));
    if (!item || item->slot < list->count_at || item->slot >= list->end) return std::nullopt;
    place.slots.push_back(item->slot);
  }
  return place;
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
  constexpr double kMax = 9e18;  // fits into 64 bits
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
  if (value && value->kind == Value::Kind::reference) return "." + std::string(value->text);
  return std::string(path);
}

std::string_view ObjectMembers::class_name(std::string_view path) const {
  const Value* value = find(path);
  return value && value->kind == Value::Kind::object ? value->text : std::string_view();
}

}  // namespace tfile
