// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace tfilefs {

// The bytes of a FlatBuffer (https://flatbuffers.dev/internals), none of which is trusted. The first offset that leads
// outside makes it *failed*: from then on every read gives zero or nothing, so a series of reads needs one check at its
// end.
class FlatBytes {
 public:
  explicit FlatBytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool failed() const { return failed_; }
  void reject(std::uint64_t at, std::uint64_t size) {
    if (!failed_) failed_at_ = at, failed_size_ = size;
    failed_ = true;
  }
  // The first read that failed: "8 bytes at 120 of 100".
  std::string failure() const {
    return std::to_string(failed_size_) + " bytes at " + std::to_string(failed_at_) + " of " +
           std::to_string(bytes_.size());
  }

  // Little-endian, as the machine is.
  template <class T>
  T load(std::uint64_t at) {
    T value{};
    const auto found = take(at, sizeof(T));
    if (!found.empty()) std::memcpy(&value, found.data(), sizeof(T));
    return value;
  }
  std::span<const std::byte> take(std::uint64_t at, std::uint64_t size) {
    if (failed_ || at > bytes_.size() || size > bytes_.size() - at) {
      reject(at, size);
      return {};
    }
    return bytes_.subspan(at, size);
  }

 private:
  std::span<const std::byte> bytes_;
  bool failed_ = false;
  std::uint64_t failed_at_ = 0, failed_size_ = 0;
};

class FlatTables;

// A table in it, or none. Fields go by their numbers in the schema. A field that is not there has the value
// `otherwise`.
class FlatTable {
 public:
  FlatTable() = default;
  static FlatTable root(FlatBytes&);

  explicit operator bool() const { return bytes_ != nullptr; }

  template <class T>
  T number(int field, T otherwise) const {
    const std::uint64_t at = place_of(field);
    return at ? bytes_->load<T>(at) : otherwise;
  }
  FlatTable table(int field) const;
  std::string_view text(int field) const;
  // A vector of structs of that size, one after the other.
  std::span<const std::byte> structs(int field, std::size_t item_size) const;
  FlatTables tables(int field) const;

 private:
  friend class FlatTables;
  FlatTable(FlatBytes& bytes, std::uint64_t at) : bytes_(&bytes), at_(at) {}
  std::uint64_t place_of(int field) const;  // 0: not there

  FlatBytes* bytes_ = nullptr;
  std::uint64_t at_ = 0;
};

// A vector of tables.
class FlatTables {
 public:
  FlatTables() = default;
  std::size_t size() const { return size_; }
  FlatTable operator[](std::size_t i) const;

 private:
  friend class FlatTable;
  FlatBytes* bytes_ = nullptr;
  std::uint64_t at_ = 0;  // of the first one's offset
  std::size_t size_ = 0;
};

}  // namespace tfilefs
