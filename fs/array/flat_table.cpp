// SPDX-License-Identifier: Apache-2.0
#include "array/flat_table.h"

namespace tfilefs {
namespace {

using TableOffset = std::uint32_t;

std::uint64_t follow(FlatBytes& bytes, std::uint64_t at) { return at + bytes.load<TableOffset>(at); }

}  // namespace

FlatTable FlatTable::root(FlatBytes& bytes) { return {bytes, follow(bytes, 0)}; }

std::uint64_t FlatTable::place_of(int field) const {
  if (!bytes_) return 0;
  const auto back = static_cast<std::int64_t>(bytes_->load<std::int32_t>(at_));
  const std::int64_t offsets = static_cast<std::int64_t>(at_) - back;
  if (offsets < 0) {
    bytes_->reject(at_, static_cast<std::uint64_t>(back));  // it leads to before the first byte
    return 0;
  }
  const auto slots = static_cast<std::uint64_t>(offsets);
  const auto slot = static_cast<std::uint64_t>(4 + 2 * field);
  if (slot + 2 > bytes_->load<std::uint16_t>(slots)) return 0;
  const auto within = bytes_->load<std::uint16_t>(slots + slot);
  return within && !bytes_->failed() ? at_ + within : 0;
}

FlatTable FlatTable::table(int field) const {
  const std::uint64_t at = place_of(field);
  return at ? FlatTable(*bytes_, follow(*bytes_, at)) : FlatTable();
}

std::span<const std::byte> FlatTable::structs(int field, std::size_t item_size) const {
  const std::uint64_t at = place_of(field);
  if (!at) return {};
  const std::uint64_t vector = follow(*bytes_, at);
  return bytes_->take(vector + sizeof(TableOffset), std::uint64_t{bytes_->load<TableOffset>(vector)} * item_size);
}

std::string_view FlatTable::text(int field) const {
  const auto found = structs(field, 1);
  return {reinterpret_cast<const char*>(found.data()), found.size()};
}

FlatTables FlatTable::tables(int field) const {
  FlatTables found;
  const auto offsets = structs(field, sizeof(TableOffset));
  if (offsets.empty()) return found;
  found.bytes_ = bytes_;
  found.at_ = follow(*bytes_, place_of(field)) + sizeof(TableOffset);
  found.size_ = offsets.size() / sizeof(TableOffset);
  return found;
}

FlatTable FlatTables::operator[](std::size_t i) const {
  return {*bytes_, follow(*bytes_, at_ + i * sizeof(TableOffset))};
}

}  // namespace tfilefs
