// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "format/streamer/object_image.h"
#include "format/tree/embedded_image.h"

namespace tfile::test {

// Appends a tree's record in the form of ROOT 6.40, by the description of the format alone (docs/format.md, "Trees and
// branches").
class TreeImage : public ObjectImage {
 public:
  using ObjectImage::ObjectImage;

  struct Leaf {
    std::string class_name = "TLeafF", name = "x", title = "x";
    std::int32_t len = 1, len_type = 4;
    bool is_range = false, is_unsigned = false;
    std::function<void()> count = {};  // writes the slot fLeafCount; null if empty
    std::int32_t id = -1, type = -1;   // TLeafElement
  };
  struct Branch {
    std::string class_name = "TBranch", name = "x", title = "x/F";
    std::int32_t entry_offset_len = 0, write_basket = 0;
    std::int64_t entry_number = 0, entries = 0, tot_bytes = 0, zip_bytes = 0;
    std::uint8_t io_bits = 0;
    std::vector<std::function<void()>> branches, leaves, baskets;  // each writes one slot
    std::vector<std::int32_t> bytes;
    std::vector<std::int64_t> entry, seek;
    std::string file_name = {};
    // TBranchElement
    std::string element_class = {}, parent_class = {}, clones_class = {};
    std::uint32_t checksum = 0;
    std::int16_t class_version = 0;
    std::int32_t id = -1, type = 0, streamer_type = -1, maximum = 0;
    std::function<void()> count = {}, count2 = {};
  };
  struct Tree {
    std::string name = "t", title = "a tree";
    std::int64_t entries = 0, tot_bytes = 0, zip_bytes = 0, auto_flush = -30000000;
    std::vector<std::int64_t> cluster_range_end = {}, cluster_size = {};
    std::vector<std::function<void()>> branches = {}, leaves = {};
    std::function<void()> tree_index = {}, friends = {}, branch_ref = {};
  };

  void put_tree(const Tree& tree) {
    const std::size_t at = open(20);
    tnamed(tree.name, tree.title);
    attributes(2, 6);
    attributes(2, 4);
    attributes(2, 8);
    for (const std::int64_t n : {tree.entries, tree.tot_bytes, tree.zip_bytes, std::int64_t{0}, std::int64_t{0}})
      put(n);
    put(1.0);
    for (int i = 0; i < 3; ++i) put(std::int32_t{25});
    put(std::int32_t{1000});
    put(static_cast<std::int32_t>(tree.cluster_size.size()));
    for (int i = 0; i < 4; ++i) put(std::int64_t{1000000});
    put(tree.auto_flush);
    put(std::int64_t{1000000});
    numbers(tree.cluster_range_end);
    numbers(tree.cluster_size);
    features(0);
    slots(tree.branches);
    slots(tree.leaves);
    null();                // fAliases
    put(std::int32_t{0});  // fIndexValues
    put(std::int32_t{0});  // fIndex
    slot(tree.tree_index);
    slot(tree.friends);
    null();  // fUserInfo
    slot(tree.branch_ref);
    close(at);
  }

  struct Friend {
    std::string alias, table, file;
  };
  // A slot with a TList of them.
  void put_friends(const std::vector<Friend>& friends) {
    const std::size_t at = open_object("TList");
    const std::size_t list = open(5);
    tobject();
    put_string("");
    put(static_cast<std::int32_t>(friends.size()));
    for (const Friend& each : friends) {
      const std::size_t slot_at = open_object("TFriendElement");
      const std::size_t own = open(2);
      tnamed(each.alias, each.file);
      put_string(each.table);
      put(std::uint8_t{1});
      close(own);
      close(slot_at);
      put_string("");  // the option
    }
    close(list);
    close(at);
  }

  // A slot with a TTreeIndex that claims `count` numbers in each array; without `minor`, of version 1.
  void put_index(const std::string& major_name, const std::string& minor_name, std::int64_t count,
                 const std::vector<std::int64_t>& major, const std::vector<std::int64_t>& minor,
                 const std::vector<std::int64_t>& entry) {
    const std::size_t at = open_object("TTreeIndex");
    const std::size_t own = open(minor.empty() ? 1 : 2);
    const std::size_t base = open(1);
    tnamed("", "");
    close(base);
    put_string(major_name);
    put_string(minor_name);
    put(count);
    for (const auto* numbers_of : {&major, &minor, &entry}) {
      for (const std::int64_t number : *numbers_of) put(number);
    }
    close(own);
    close(at);
  }

  // Writes a slot with the object; returns the value for references to it.
  std::uint32_t put_leaf(const Leaf& leaf) {
    const std::size_t at = open_object(leaf.class_name);
    const std::size_t own = open(1);
    const std::size_t base = open(2);
    tnamed(leaf.name, leaf.title);
    put(leaf.len);
    put(leaf.len_type);
    put(std::int32_t{0});
    put(std::uint8_t{leaf.is_range});
    put(std::uint8_t{leaf.is_unsigned});
    slot(leaf.count);
    close(base);
    put(leaf.class_name == "TLeafElement" ? leaf.id : 0);
    put(leaf.class_name == "TLeafElement" ? leaf.type : 0);
    close(own);
    close(at);
    return identity(at);
  }

  std::uint32_t put_branch(const Branch& branch) {
    const std::size_t at = open_object(branch.class_name);
    const bool is_element = branch.class_name == "TBranchElement";
    const bool is_derived = branch.class_name != "TBranch";
    const std::size_t own = is_derived ? open(is_element ? 10 : 1) : 0;
    const std::size_t base = open(13);
    put_branch_members(branch);
    close(base);
    if (is_element) put_element_members(branch);
    if (branch.class_name == "TBranchObject") put_string(branch.element_class);
    if (branch.class_name == "TBranchRef") null();
    if (is_derived) close(own);
    close(at);
    return identity(at);
  }

  void put_basket(const BasketImage& image) {
    const std::size_t at = open_object("TBasket");
    const auto bytes = embedded(image);
    all().insert(all().end(), bytes.begin(), bytes.end());
    close(at);
  }

  void attributes(std::uint16_t version, std::size_t size) {
    const std::size_t at = open(version);
    patch_space(size);
    close(at);
  }
  void slot(const std::function<void()>& write) {
    if (write) {
      write();
    } else {
      null();
    }
  }
  void slots(const std::vector<std::function<void()>>& writers) {
    const std::size_t at = open_array(static_cast<std::int32_t>(writers.size()));
    for (const auto& write : writers) slot(write);
    close(at);
  }
  template <class T>
  void numbers(const std::vector<T>& values) {
    put(std::uint8_t{!values.empty()});
    for (const T value : values) put(value);
  }

 private:
  void features(std::uint8_t bits) {
    const std::size_t at = open(0);
    put(std::uint32_t{0x1aa12f10});
    put(bits);
    close(at);
  }
  void put_branch_members(const Branch& branch) {
    tnamed(branch.name, branch.title);
    attributes(2, 4);
    put(std::int32_t{101});
    put(std::int32_t{32000});
    put(branch.entry_offset_len);
    put(branch.write_basket);
    put(branch.entry_number);
    features(branch.io_bits);
    put(std::int32_t{0});
    put(static_cast<std::int32_t>(branch.seek.size()));
    put(std::int32_t{99});
    for (const std::int64_t n : {branch.entries, std::int64_t{0}, branch.tot_bytes, branch.zip_bytes}) put(n);
    slots(branch.branches);
    slots(branch.leaves);
    slots(branch.baskets);
    numbers(branch.bytes);
    numbers(branch.entry);
    numbers(branch.seek);
    put_string(branch.file_name);
  }
  void put_element_members(const Branch& branch) {
    put_string(branch.element_class);
    put_string(branch.parent_class);
    put_string(branch.clones_class);
    put(branch.checksum);
    put(branch.class_version);
    for (const std::int32_t n : {branch.id, branch.type, branch.streamer_type, branch.maximum}) put(n);
    slot(branch.count);
    slot(branch.count2);
  }
};

}  // namespace tfile::test
