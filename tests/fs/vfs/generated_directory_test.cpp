// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/generated_directory.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace tfilefs {
namespace {

// Of what answers at once.
template <class T, class Ask>
Result<T> answer(Ask ask) {
  Result<T> answered = tfile::fail(ErrorKind::io, "unanswered");
  ask(Reply<T>([&](Result<T> result) { answered = std::move(result); }));
  return answered;
}

std::string text_of(const Entry& entry) {
  const auto opened =
      answer<OpenedContent>([&](Reply<OpenedContent> reply) { entry.vnodes->open(entry.vnode, std::move(reply)); });
  if (!opened) return opened.error().text;
  EXPECT_FALSE(opened->cacheable);
  const auto read =
      answer<Slices>([&](Reply<Slices> reply) { opened->content->read(0, opened->content->size(), std::move(reply)); });
  std::string text(read->size(), ' ');
  copy_slices(*read, reinterpret_cast<std::byte*>(text.data()));
  return text;
}

Result<FoundEntry> found(const std::shared_ptr<const Directory>& directory, std::string_view name) {
  return answer<FoundEntry>([&](Reply<FoundEntry> reply) { directory->find(name, std::move(reply)); });
}

Entry counting(const std::shared_ptr<int>& made) {
  return generated(made_anew([made](Freshness, Reply<MadeFile> reply) {
    const std::string text = "made " + std::to_string(++*made);
    Attributes attributes;
    attributes.size = text.size();
    reply(MadeFile{attributes, std::make_shared<FixedContent>(text)});
  }));
}

TEST(GeneratedDirectory, AFileIsMadeWhenItIsAskedFor) {
  const auto made = std::make_shared<int>(0);
  const Entry file = counting(made);
  EXPECT_FALSE(file.vnodes->known_attributes(file.vnode));
  EXPECT_EQ(*made, 0);
  const auto attributes =
      answer<Attributes>([&](Reply<Attributes> reply) { file.vnodes->attributes(file.vnode, std::move(reply)); });
  EXPECT_EQ(attributes->size, 6u);
  EXPECT_EQ(text_of(file), "made 2");
  EXPECT_EQ(text_of(file), "made 3");
}

TEST(GeneratedDirectory, WhatIsNotGivenIsAsOfAnyVnodes) {
  GeneratedThing thing;
  thing.known_attributes = [] { return Attributes(); };
  const Entry entry = generated(std::move(thing));
  const Vnodes& vnodes = *entry.vnodes;
  EXPECT_EQ(answer<OpenedContent>([&](auto reply) { vnodes.open({}, std::move(reply)); }).error().system_errno, EISDIR);
  EXPECT_EQ(
      answer<std::shared_ptr<const Directory>>([&](auto reply) { vnodes.enter({}, Freshness::now, std::move(reply)); })
          .error()
          .system_errno,
      ENOTDIR);
  EXPECT_EQ(
      answer<void>([&](auto reply) { vnodes.admit({}, Access::read, nullptr, std::move(reply)); }).error().system_errno,
      EACCES);
  EXPECT_TRUE(answer<Xattrs>([&](auto reply) { vnodes.xattrs({}, std::move(reply)); })->empty());
  EXPECT_TRUE(answer<void>([&](auto reply) { vnodes.sync({}, std::move(reply)); }));
  EXPECT_TRUE(answer<Attributes>([&](auto reply) { vnodes.attributes({}, std::move(reply)); }));
}

TEST(GeneratedDirectory, NamesOfATable) {
  const auto made = std::make_shared<int>(0);
  GeneratedNames names = generated_names({{"a", counting(made)}, {"b", counting(made)}});
  names.find_other = [](std::string_view name, Reply<FoundEntry> reply) {
    if (name == "hidden") return reply(FoundEntry{{}, "other", false});
    reply(no_such_entry());
  };
  const auto directory = make_generated_directory(std::move(names));
  EXPECT_EQ(text_of(found(directory, "b")->entry), "made 1");
  EXPECT_EQ(found(directory, "hidden")->own_name, "other");
  EXPECT_EQ(found(directory, "c").error().system_errno, ENOENT);
  const auto listing = answer<std::shared_ptr<const Listing>>([&](auto reply) { directory->list(std::move(reply)); });
  ASSERT_EQ((*listing)->size(), 2u);
  Listing::Item item;
  (*listing)->item(1, item);
  EXPECT_EQ(item.name, "b");
  EXPECT_EQ(item.type, static_cast<mode_t>(S_IFREG));
  EXPECT_TRUE(item.entry.vnodes);
}

TEST(GeneratedDirectory, NamesThatAreComputed) {
  GeneratedNames names;
  names.count = 100'000;
  names.name = [](std::size_t i) { return std::to_string(i); };
  names.thing = [](std::size_t i) { return Entry{nullptr, {static_cast<std::uint32_t>(i)}}; };
  names.number = [](std::string_view name) { return std::optional(name.size()); };
  names.type = S_IFDIR;
  names.are_listed_whole = false;
  names.same_for_all = false;
  const auto directory = make_generated_directory(std::move(names));
  EXPECT_EQ(found(directory, "two")->entry.vnode.index, 3u);
  EXPECT_FALSE(found(directory, "two")->same_for_all);
  const auto listing = answer<std::shared_ptr<const Listing>>([&](auto reply) { directory->list(std::move(reply)); });
  Listing::Item item;
  (*listing)->item(99'999, item);
  EXPECT_EQ(item.name, "99999");
  EXPECT_EQ(item.entry.vnode.index, 0u);
}

}  // namespace
}  // namespace tfilefs
