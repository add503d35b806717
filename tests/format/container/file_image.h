// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bytes/endian.h"
#include "format/source/memory_source.h"

namespace tfile::test {

// Appends and patches big-endian bytes.
class Bytes {
 public:
  template <class T>
  void put(T value) {
    patch_space(sizeof(T));
    patch(size() - sizeof(T), value);
  }
  template <class T>
  void patch(std::size_t position, T value) {
    const auto raw = byte_swap(std::bit_cast<typename UnsignedOfSize<sizeof(T)>::type>(value));
    std::memcpy(bytes_.data() + position, &raw, sizeof raw);
  }
  void put_string(std::string_view text) {
    if (text.size() < 255) {
      put(static_cast<std::uint8_t>(text.size()));
    } else {
      put(std::uint8_t{255});
      put(static_cast<std::int32_t>(text.size()));
    }
    put_text(text);
  }
  void put_text(std::string_view text) {
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
  }
  void patch_space(std::size_t count) { bytes_.resize(bytes_.size() + count); }
  std::size_t size() const { return bytes_.size(); }
  const std::vector<std::byte>& all() const { return bytes_; }
  std::vector<std::byte>& all() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Writes a ROOT file by the description of the format alone (docs/format.md): records one after the other, each with
// its key. Finally, `finish` writes the header.
class FileImage {
 public:
  struct Options {
    bool big_header = false;
    bool big_keys = false;
    std::int32_t begin = 100;
    std::int16_t key_version = 4;        // 1000 more if big
    std::int16_t directory_version = 5;  // 1000 more if big
    std::string file_class = "TFile";
    bool with_free_list = true;
  };
  struct Key {
    std::string class_name, name, title;
    std::int16_t cycle = 1;
    std::int64_t seek = 0, pdir = 0;
    std::int32_t nbytes = 0, objlen = 0;
    std::int16_t keylen = 0;
  };
  struct Directory {
    std::int64_t seek = 0;   // of its key
    std::size_t record = 0;  // of its record
    std::vector<Key> keys;   // of the list that will be written, in order
  };

  FileImage() : FileImage(Options{}) {}
  explicit FileImage(Options options) : options_(std::move(options)) {
    bytes_.patch_space(static_cast<std::size_t>(options_.begin));
    Bytes payload;
    payload.put_string("image.root");
    payload.put_string("an image");
    const std::size_t names = payload.size();
    payload.patch_space(kRecordSize);
    const Key key =
        add_record({options_.file_class, "image.root", "an image", 1, 0, options_.begin, 0, 0, 0}, payload.all());
    nbytes_name_ = key.keylen + static_cast<std::int32_t>(names);
    root.seek = options_.begin;
    root.record = static_cast<std::size_t>(options_.begin + nbytes_name_);
    write_record(root, 0, 0, 0);
  }

  // Appends a record. `key` needs class, name, title, cycle and pdir. `objlen` 0 means the size of the payload.
  Key add_record(Key key, const std::vector<std::byte>& payload, std::int32_t objlen = 0) {
    key.seek = static_cast<std::int64_t>(bytes_.size());
    key.keylen = static_cast<std::int16_t>(key_size(key));
    key.nbytes = key.keylen + static_cast<std::int32_t>(payload.size());
    key.objlen = objlen != 0 ? objlen : static_cast<std::int32_t>(payload.size());
    put_key(bytes_, key);
    bytes_.all().insert(bytes_.all().end(), payload.begin(), payload.end());
    return key;
  }
  // The record of an object that is in the list of `directory`.
  Key add_object(Directory& directory, const std::string& class_name, const std::string& name, std::string_view content,
                 std::int16_t cycle = 1) {
    Bytes payload;
    payload.put_text(content);
    directory.keys.push_back(
        add_record({class_name, name, "title of " + name, cycle, 0, directory.seek, 0, 0, 0}, payload.all()));
    return directory.keys.back();
  }
  Directory add_directory(Directory& parent, const std::string& name, const std::string& class_name = "TDirectory") {
    const Key key = add_record({class_name, name, "", 1, 0, parent.seek, 0, 0, 0}, std::vector<std::byte>(kRecordSize));
    parent.keys.push_back(key);
    Directory directory{key.seek, static_cast<std::size_t>(key.seek + key.keylen), {}};
    write_record(directory, parent.seek, 0, 0);
    return directory;
  }
  // Writes the key list of `directory`, and rewrites its record.
  Key finish_directory(Directory& directory, const std::string& class_name = "TDirectory", std::int64_t parent = 0) {
    Bytes list;
    list.put(static_cast<std::int32_t>(directory.keys.size()));
    for (const Key& key : directory.keys) put_key(list, key);
    const Key key = add_record({class_name, "list", "", 1, 0, directory.seek, 0, 0, 0}, list.all());
    write_record(directory, parent, key.seek, key.nbytes);
    return key;
  }
  void add_gap(std::int32_t size) {
    const std::size_t at = bytes_.size();
    bytes_.patch_space(static_cast<std::size_t>(size));
    bytes_.patch(at, -size);
  }
  // Free space of zeros that only the free list records, as uproot leaves it.
  void add_zeros(std::size_t size) {
    mark_free(bytes_.size(), size);
    bytes_.patch_space(size);
  }
  void mark_free(std::size_t address, std::size_t size) { free_.emplace_back(address, address + size - 1); }
  void set_streamer_info(const Key& key) { info_ = key; }

  // Writes the key list of the root directory, the free list and the header.
  std::vector<std::byte> finish() {
    finish_directory(root, options_.file_class);
    return finish_without_root_list();
  }
  std::vector<std::byte> finish_without_root_list() {
    Key free_list{};
    if (options_.with_free_list) {
      Bytes list;
      free_.emplace_back(bytes_.size() + 70, 2'000'000'000);
      for (const auto& [first, last] : free_) {
        list.put(std::int16_t{1});
        list.put(static_cast<std::int32_t>(first));
        list.put(static_cast<std::int32_t>(last));
      }
      free_list = add_record({options_.file_class, "image.root", "", 1, 0, options_.begin, 0, 0, 0}, list.all());
    }
    Bytes header;
    header.put_text("root");
    header.put(options_.big_header ? 1'064'000 : 64'000);
    header.put(options_.begin);
    const auto put_address = [&](std::int64_t address) {
      if (options_.big_header) {
        header.put(address);
      } else {
        header.put(static_cast<std::int32_t>(address));
      }
    };
    put_address(static_cast<std::int64_t>(bytes_.size()));
    put_address(free_list.seek);
    header.put(free_list.nbytes);
    header.put(static_cast<std::int32_t>(free_.size()));
    header.put(nbytes_name_);
    header.put(std::uint8_t{4});
    header.put(std::int32_t{101});
    put_address(info_.seek);
    header.put(info_.nbytes);
    const std::size_t room = static_cast<std::size_t>(options_.begin);
    for (std::size_t i = 0; i < header.size() && i < room; ++i) bytes_.all()[i] = header.all()[i];
    return bytes_.all();
  }

  Bytes& bytes() { return bytes_; }
  std::int32_t nbytes_name() const { return nbytes_name_; }

  Directory root;

 private:
  static constexpr std::size_t kRecordSize = 60;

  bool is_big() const { return options_.big_keys; }
  std::size_t key_size(const Key& key) const {
    Bytes bytes;
    put_key(bytes, key);
    return bytes.size();
  }
  void put_key(Bytes& out, const Key& key) const {
    out.put(key.nbytes);
    out.put(static_cast<std::int16_t>(options_.key_version + (is_big() ? 1000 : 0)));
    out.put(key.objlen);
    out.put(std::uint32_t{0x41CCEB89});
    out.put(key.keylen);
    out.put(key.cycle);
    if (is_big()) {
      out.put(key.seek);
      out.put(key.pdir);
    } else {
      out.put(static_cast<std::int32_t>(key.seek));
      out.put(static_cast<std::int32_t>(key.pdir));
    }
    out.put_string(key.class_name);
    out.put_string(key.name);
    out.put_string(key.title);
  }
  void write_record(const Directory& directory, std::int64_t parent, std::int64_t seek_keys, std::int32_t nbytes_keys) {
    Bytes record;
    record.put(static_cast<std::int16_t>(options_.directory_version + (is_big() ? 1000 : 0)));
    record.put(std::uint32_t{0x41CCEB89});
    record.put(std::uint32_t{0x41CCEBBA});
    record.put(nbytes_keys);
    record.put(static_cast<std::int32_t>(directory.record - static_cast<std::size_t>(directory.seek)));
    for (const std::int64_t address : {directory.seek, parent, seek_keys}) {
      if (is_big()) {
        record.put(address);
      } else {
        record.put(static_cast<std::int32_t>(address));
      }
    }
    std::copy(record.all().begin(), record.all().end(),
              bytes_.all().begin() + static_cast<std::ptrdiff_t>(directory.record));
  }

  Options options_;
  Bytes bytes_;
  std::int32_t nbytes_name_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> free_;
  Key info_{};
};

inline std::shared_ptr<const MemorySource> in_memory(std::vector<std::byte> bytes) {
  return std::make_shared<const MemorySource>(std::move(bytes));
}

}  // namespace tfile::test
