// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/generated_directory.h"

#include "on_behalf.h"

namespace tfilefs {
namespace {

class GeneratedVnodes final : public Vnodes {
 public:
  explicit GeneratedVnodes(GeneratedThing thing) : thing_(std::move(thing)) {}

  const std::shared_ptr<const Generation>& generation() const override { return thing_.generation; }
  bool goes_with_key(VnodeId) const override { return thing_.goes_with_key; }
  void admit(VnodeId vnode, Access access, const CallerPtr& by, Reply<void> reply) const override {
    if (!thing_.admit) return Vnodes::admit(vnode, access, by, std::move(reply));
    thing_.admit(access, by, std::move(reply));
  }
  std::optional<Attributes> known_attributes(VnodeId) const override {
    return thing_.known_attributes ? thing_.known_attributes() : std::nullopt;
  }
  std::optional<Attributes> attributes_but_size(VnodeId) const override {
    return thing_.attributes_but_size ? thing_.attributes_but_size() : std::nullopt;
  }
  void attributes(VnodeId vnode, Reply<Attributes> reply) const override {
    if (thing_.attributes) return thing_.attributes(std::move(reply));
    reply(*known_attributes(vnode));
  }
  void open(VnodeId vnode, Reply<OpenedContent> reply) const override {
    if (!thing_.open) return Vnodes::open(vnode, std::move(reply));
    thing_.open(std::move(reply));
  }
  void enter(VnodeId vnode, Freshness freshness, Reply<std::shared_ptr<const Directory>> reply) const override {
    if (!thing_.enter) return Vnodes::enter(vnode, freshness, std::move(reply));
    thing_.enter(freshness, std::move(reply));
  }
  void xattrs(VnodeId vnode, Reply<Xattrs> reply) const override {
    if (!thing_.xattrs) return Vnodes::xattrs(vnode, std::move(reply));
    thing_.xattrs(std::move(reply));
  }
  void more_xattrs(VnodeId vnode, Reply<Xattrs> reply) const override {
    if (!thing_.more_xattrs) return Vnodes::more_xattrs(vnode, std::move(reply));
    thing_.more_xattrs(std::move(reply));
  }
  void sync(VnodeId vnode, Reply<void> reply) const override {
    if (!thing_.sync) return Vnodes::sync(vnode, std::move(reply));
    thing_.sync(std::move(reply));
  }
  void set_xattr(VnodeId vnode, std::string_view name, std::optional<std::string> value, int flags,
                 Reply<void> reply) const override {
    if (!thing_.set_xattr) return Vnodes::set_xattr(vnode, name, std::move(value), flags, std::move(reply));
    thing_.set_xattr(name, std::move(reply));
  }

 private:
  const GeneratedThing thing_;
};

using NamesPtr = std::shared_ptr<const GeneratedNames>;

class GeneratedListing final : public Listing {
 public:
  explicit GeneratedListing(NamesPtr names) : names_(std::move(names)) {}
  std::size_t size() const override { return names_->count; }
  void item(std::size_t i, Item& into) const override {
    into = {names_->name(i), names_->type, names_->are_listed_whole ? names_->thing(i) : Entry{}};
  }

 private:
  const NamesPtr names_;
};

class GeneratedDirectory final : public Directory {
 public:
  explicit GeneratedDirectory(GeneratedNames names)
      : names_(std::make_shared<const GeneratedNames>(std::move(names))) {}

  const std::shared_ptr<const Generation>& generation() const override { return names_->generation; }
  void admit(Access access, const CallerPtr& by, Reply<void> reply) const override {
    if (!names_->admit) return Directory::admit(access, by, std::move(reply));
    names_->admit(access, by, std::move(reply));
  }
  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    if (const auto number = number_of(name)) return reply(FoundEntry{names_->thing(*number), {}, names_->same_for_all});
    if (names_->find_other) return names_->find_other(name, std::move(reply));
    reply(no_such_entry());
  }
  void list(Reply<std::shared_ptr<const Listing>> reply) const override {
    reply(std::make_shared<const GeneratedListing>(names_));
  }

 private:
  std::optional<std::size_t> number_of(std::string_view name) const {
    if (names_->number) return names_->number(name);
    for (std::size_t i = 0; i < names_->count; ++i) {
      if (names_->name(i) == name) return i;
    }
    return std::nullopt;
  }

  const NamesPtr names_;
};

}  // namespace

Entry generated(GeneratedThing thing) { return {std::make_shared<const GeneratedVnodes>(std::move(thing)), {}}; }

void admit_all(Access, const CallerPtr&, Reply<void> reply) { reply({}); }

GeneratedThing made_anew(std::function<void(Freshness, Reply<MadeFile>)> make) {
  GeneratedThing thing;
  thing.attributes = [make](Reply<Attributes> reply) {
    auto tell = [](const MadeFile& made, Reply<Attributes> done) { done(made.attributes); };
    make(Freshness::recent, value_for<MadeFile>(std::move(reply), tell));
  };
  thing.open = [make = std::move(make)](Reply<OpenedContent> reply) {
    auto tell = [](MadeFile made, Reply<OpenedContent> done) {
      OpenedContent opened;
      opened.content = std::move(made.content);
      opened.cacheable = false;
      done(std::move(opened));
    };
    make(Freshness::now, value_for<MadeFile>(std::move(reply), tell));
  };
  return thing;
}

GeneratedNames generated_names(std::vector<std::pair<std::string, Entry>> things) {
  const auto table = std::make_shared<const std::vector<std::pair<std::string, Entry>>>(std::move(things));
  GeneratedNames names;
  names.count = table->size();
  names.name = [table](std::size_t i) { return (*table)[i].first; };
  names.thing = [table](std::size_t i) { return (*table)[i].second; };
  return names;
}

std::shared_ptr<const Directory> make_generated_directory(GeneratedNames names) {
  return std::make_shared<const GeneratedDirectory>(std::move(names));
}

}  // namespace tfilefs
