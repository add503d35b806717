// SPDX-License-Identifier: Apache-2.0
#include "streamer/layout/fixed_items.h"

#include <algorithm>
#include <cstring>

#include "bytes/endian.h"
#include "streamer/info/object_frame.h"

namespace tfile {
namespace {

// Larger items gain nothing, and have too many parts.
constexpr std::size_t kSizeMax = 4096;
// The number of items taken apart together: small enough that their bytes stay in the first-level cache for each
// column.
constexpr std::size_t kBatch = 128;

template <class T>
void gather_numbers(const std::byte* from, std::size_t stride, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * sizeof(T), from + i * stride, sizeof(T));
}

void gather_bytes(const std::byte* from, std::size_t stride, std::size_t count, std::size_t size, std::byte* to) {
  switch (size) {
    case 1:
      return gather_numbers<std::uint8_t>(from, stride, count, to);
    case 2:
      return gather_numbers<std::uint16_t>(from, stride, count, to);
    case 4:
      return gather_numbers<std::uint32_t>(from, stride, count, to);
    case 8:
      return gather_numbers<std::uint64_t>(from, stride, count, to);
    default:
      for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * size, from + i * stride, size);
  }
}

}  // namespace

bool FixedItems::learn(const Program& program, Block block, std::span<const std::byte> bytes) {
  for (std::uint32_t i = block.begin; i < block.end; ++i) {
    if (!learn_op(program, program.ops[i], bytes) || size_ > kSizeMax || size_ > bytes.size()) return false;
  }
  return size_ > 0;
}

bool FixedItems::learn_op(const Program& program, const Op& op, std::span<const std::byte> bytes) {
  if (op.count > kSizeMax) return false;
  switch (op.kind) {
    case Op::Kind::numbers:
      if (op.reg >= 0) return false;
      add_part(op.count * op.item_size, op.slot);
      return true;
    case Op::Kind::packed:
      add_part(static_cast<std::uint32_t>(op.count * program.packings[op.packing].stored_size()), op.slot, op.packing);
      return true;
    case Op::Kind::skip:
      size_ += op.count;
      return true;
    case Op::Kind::tobject:
      checks_.push_back({static_cast<std::uint32_t>(size_), kByteCountBit, 0});  // no byte count before the version
      size_ += 2;
      add_part(4, op.slot);
      add_bits(op.slot + 1);
      return true;
    case Op::Kind::bits:
      add_bits(op.slot);
      return true;
    case Op::Kind::frame:
      return learn_frame(program, op, bytes, nullptr);
    case Op::Kind::object: {
      std::size_t end = 0;
      return !op.is_bare && learn_frame(program, op, bytes, &end) &&
             (op.block.empty() || learn(program, op.block, bytes)) && size_ == end;
    }
    default:
      return false;
  }
}

// `end` receives the end of the object according to its byte count.
bool FixedItems::learn_frame(const Program& program, const Op& op, std::span<const std::byte> bytes, std::size_t* end) {
  if (size_ > bytes.size()) return false;
  Cursor in(bytes.subspan(size_));
  const Frame frame = read_frame(in);
  if (in.failed() || !frame.counted || frame.member_wise) return false;
  if (frame.version == 0 && op.checksum != 0 && frame.checksum != op.checksum) return false;
  if (op.forms != 0 && !program.forms[op.forms - 1u].main.is(frame.version, frame.checksum)) return false;
  if (end) *end = size_ + frame.end;
  const std::byte* at = bytes.data() + size_;
  const auto begin = static_cast<std::uint32_t>(size_);
  checks_.push_back({begin, ~0u, load_big<std::uint32_t>(at)});
  checks_.push_back({begin + 2, ~0u, load_big<std::uint32_t>(at + 2)});  // the version after the byte count
  size_ += in.position();
  return true;
}

void FixedItems::add_part(std::uint32_t size, std::uint32_t slot, std::int32_t packing) {
  parts_.push_back({static_cast<std::uint32_t>(size_), size, slot, packing});
  size_ += size;
}

// Checks that no object is referenced: its bits would be followed by two more bytes.
void FixedItems::add_bits(std::uint32_t slot) {
  checks_.push_back({static_cast<std::uint32_t>(size_), kIsReferencedBit, 0});
  add_part(4, slot);
}

std::size_t FixedItems::count_alike(const std::byte* at, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i, at += size_) {
    for (const Check& check : checks_) {
      if ((load_big<std::uint32_t>(at + check.offset) & check.mask) != check.value) return i;
    }
  }
  return count;
}

void FixedItems::gather(const Program& program, const std::byte* at, std::size_t count,
                        std::vector<ArrayBuilder>& slots) const {
  for (; count > 0; count -= std::min(count, kBatch)) {
    const std::size_t batch = std::min(count, kBatch);
    for (const Part& part : parts_) {
      if (part.packing < 0) {
        gather_bytes(at + part.offset, size_, batch, part.size, slots[part.slot].extend(batch * part.size));
        continue;
      }
      const Packing& packing = program.packings[static_cast<std::size_t>(part.packing)];
      const std::size_t unpacked = part.size / packing.stored_size() * (packing.to_double ? 8 : 4);
      std::byte* to = slots[part.slot].extend(batch * unpacked);
      for (std::size_t i = 0; i < batch; ++i, to += unpacked)
        unpack(packing, {at + i * size_ + part.offset, part.size}, to);
    }
    at += batch * size_;
  }
}

}  // namespace tfile
