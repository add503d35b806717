// SPDX-License-Identifier: Apache-2.0
#include "streamer/walk/described_classes.h"

#include <algorithm>
#include <unordered_set>

#include "bytes/endian.h"
#include "streamer/info/object_frame.h"
#include "streamer/info/type_name.h"
#include "streamer/walk/null_visitor.h"
#include "streamer/walk/object_reader.h"

namespace tfile {
namespace {

class ClassVisitor final : public NullVisitor {
 public:
  ClassVisitor(std::string_view class_name, std::span<const std::byte> payload)
      : class_name_(class_name), payload_(payload) {}

  void begin_object(std::string_view name, std::uint32_t identity) override {
    if (!has_begun_) classes.names_itself = name == class_name_;
    has_begun_ = true;
    classes.names.emplace(name);
    if (identity != 0) identities_.insert(identity);
  }
  void begin_list() override { has_begun_ = true; }
  void text(std::string_view) override { has_begun_ = true; }
  void numbers(const StoredNumbers&, std::span<const std::uint32_t>) override { has_begun_ = true; }
  void reference(std::uint32_t identity) override { is_lost = is_lost || !identities_.contains(identity); }
  void unread(std::string_view) override { is_unread = true; }
  void slot(std::size_t position) override { classes.has_references = classes.has_references || refers(position); }
  void described_by(const StreamerInfo& info) override {
    if (known_.insert(&info).second) classes.infos.push_back(&info);
  }

  ObjectClasses classes;
  bool is_unread = false;
  bool is_lost = false;  // a reference refers to nothing

 private:
  // Whether the tag of a slot counts from the start of the key.
  bool refers(std::size_t at) const {
    const auto word = [this](std::size_t position) {
      return position + sizeof(std::uint32_t) <= payload_.size() ? load_big<std::uint32_t>(payload_.data() + position)
                                                                 : std::uint32_t{0};
    };
    std::uint32_t tag = word(at);
    if ((tag & kByteCountBit) && tag != kNewClass) tag = word(at + sizeof tag);
    return tag > 1 && tag != kNewClass;  // 1: the object of the key, wherever it is
  }

  const std::string_view class_name_;
  const std::span<const std::byte> payload_;
  bool has_begun_ = false;
  std::unordered_set<std::uint32_t> identities_;
  std::unordered_set<const StreamerInfo*> known_;
};

// The classes that a member's type names.
void add_types(const TypeName& type, std::vector<std::string>& into) {
  for (const TypeName& argument : type.arguments) add_types(argument, into);
  if (type.kind == TypeName::Kind::named_class) into.push_back(type.text);
}

// Adds what the descriptions name in turn: bases, and classes of members that have no object here.
void add_named(const StreamerInfos& infos, std::vector<const StreamerInfo*>& described) {
  const auto add = [&](const StreamerInfo* info) {
    if (info != nullptr && std::ranges::find(described, info) == described.end()) described.push_back(info);
  };
  for (std::size_t i = 0; i < described.size(); ++i) {
    for (const StreamerElement& element : described[i]->elements) {
      if (is_base(element)) {
        add(infos.find(element.name, element.base_version));
        continue;
      }
      std::string_view type = element.type_name;
      while (type.ends_with('*')) type.remove_suffix(1);
      std::vector<std::string> names;
      add_types(parse_type_name(type), names);
      for (const std::string& name : names) add(infos.newest(name));
    }
  }
}

}  // namespace

ObjectClasses object_classes(const StreamerInfos& infos, std::string_view class_name,
                             std::span<const std::byte> payload, std::uint32_t keylen) {
  ClassVisitor visitor(class_name, payload);
  const auto walked = visit_object(infos, class_name, payload, keylen, visitor);
  ObjectClasses classes = std::move(visitor.classes);
  classes.is_whole = walked && !visitor.is_unread;
  add_named(infos, classes.infos);
  return classes;
}

bool fits_key(const StreamerInfos& infos, std::string_view class_name, std::span<const std::byte> payload,
              std::uint32_t keylen) {
  ClassVisitor visitor(class_name, payload);
  return visit_object(infos, class_name, payload, keylen, visitor) && !visitor.is_unread && !visitor.is_lost;
}

}  // namespace tfile
