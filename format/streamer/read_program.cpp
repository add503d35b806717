// SPDX-License-Identifier: Apache-2.0
#include "streamer/read_program.h"

#include <utility>

#include "bytes/cursor.h"
#include "bytes/boolean.h"
#include "bytes/swap.h"
#include "streamer/array_builder.h"
#include "streamer/packing.h"

namespace tfile {
namespace {

constexpr std::uint32_t kByteCountMask = 0x40000000;
constexpr std::uint16_t kMemberWise = 0x4000;
// TObject::fBits: two bytes of process id follow (kIsReferenced).
constexpr std::uint32_t kIsReferenced = 0x10;
// A frame's version 0 stands for a class without ClassDef; its checksum follows.
constexpr std::uint16_t kForeign = 0;

struct Frame {
  std::uint16_t version = 0;
  std::uint64_t end = 0;  // position after the object; 0: not told
};

class Runner {
 public:
  Runner(const Program& program) : program_(program), slots_(program.slots.size()), registers_(program.registers) {
    totals_.resize(program.slots.size());
  }

  void run_entry(Cursor& in) {
    if (!(program_.entry_is_items && in.left() == 0)) run(program_.main, in);
  }
  ArrayBuilder& array(std::size_t slot) { return slots_[slot]; }
  std::int64_t total(std::size_t slot) const { return totals_[slot]; }

 private:
  void run(Block block, Cursor& in) {
    for (std::uint32_t i = block.begin; i < block.end && !in.failed(); ++i) step(program_.ops[i], in);
  }

  void step(const Op& op, Cursor& in) {
    switch (op.kind) {
      case Op::Kind::numbers:
        return numbers(op, 1, in);
      case Op::Kind::packed:
        return packed(op, 1, in);
      case Op::Kind::string:
        return string(op, in.string("string"));
      case Op::Kind::leaf_string:
        return string(op, in.left() == 0 && !in.failed() ? std::string_view() : in.string("string"));
      case Op::Kind::long_string:
        return long_string(op, in);
      case Op::Kind::skip:
        return in.skip(op.count, "bytes to pass over");
      case Op::Kind::skip_c_string:
        in.c_string("class name");
        return;
      case Op::Kind::frame:
        read_frame(in);
        return;
      case Op::Kind::object:
        return object(op, in);
      case Op::Kind::tobject:
        return tobject(op, in);
      case Op::Kind::list:
        return list(op, in.big<std::uint32_t>("size of a collection"), in);
      case Op::Kind::fixed_list:
        return list(op, op.count, in);
      case Op::Kind::counted_list:
        return counted_list(op, in);
      case Op::Kind::flagged_list:
        return in.u1("flag of an array") ? counted_list(op, in) : list(op, 0, in);
      case Op::Kind::stl:
        return run(read_frame(in).version & kMemberWise ? op.other : op.block, in);
      case Op::Kind::bits:
        return bits(op.slot, in);
      case Op::Kind::value_version:
        if (in.big<std::uint16_t>("version of a value class") == kForeign) in.skip(4, "checksum of a value class");
        return;
      case Op::Kind::member_list:
        return member_list(op, in);
      case Op::Kind::repeat:
        return times(op.block, repeat_, in);
      case Op::Kind::rest:
        return rest(op, in);
      case Op::Kind::counts:
        return counts(op, in);
    }
  }

  // Version header: with a byte count (bit 30) where it is known how long the object is, else the version alone.
  Frame read_frame(Cursor& in) {
    Frame frame;
    const std::size_t start = in.position();
    const auto word = in.left() < 4 ? 0 : in.big<std::uint32_t>("byte count");
    if (word & kByteCountMask) {
      frame.end = start + 4 + (word & ~kByteCountMask);
      frame.version = in.big<std::uint16_t>("version");
    } else {
      in.seek(start, "version");
      frame.version = in.big<std::uint16_t>("version");
    }
    if ((frame.version & ~kMemberWise) == kForeign && !(frame.version & kMemberWise)) in.skip(4, "checksum of a class");
    return frame;
  }

  void object(const Op& op, Cursor& in) {
    const Frame frame = read_frame(in);
    run(op.block, in);
    if (frame.end != 0 && frame.end != in.position()) in.reject("object ends elsewhere than its byte count says");
  }

  void tobject(const Op& op, Cursor& in) {
    in.skip(2, "TObject: version");
    slots_[op.slot].append(in.take(4, "TObject: fUniqueID"));
    bits(op.slot + 1, in);
  }
  void bits(std::uint32_t slot, Cursor& in) {
    const auto stored = in.take(4, "TObject: fBits");
    slots_[slot].append(stored);
    if (stored.size() == 4 && (load_big<std::uint32_t>(stored.data()) & kIsReferenced)) in.skip(2, "TObject: process id");
  }

  void numbers(const Op& op, std::uint64_t times, Cursor& in) {
    const auto bytes = in.take_items(times, std::size_t{op.count} * op.item_size, "numbers");
    slots_[op.slot].append(bytes);
    if (op.reg >= 0 && bytes.size() >= op.item_size)
      registers_[static_cast<std::size_t>(op.reg)] = last_number(bytes, op.item_size);
  }
  static std::int64_t last_number(std::span<const std::byte> bytes, std::size_t item_size) {
    const std::byte* p = bytes.data() + bytes.size() - item_size;
    switch (item_size) {
      case 1:
        return load_big<std::uint8_t>(p);
      case 2:
        return load_big<std::uint16_t>(p);
      case 4:
        return load_big<std::int32_t>(p);
      default:
        return load_big<std::int64_t>(p);
    }
  }

  void packed(const Op& op, std::uint64_t times, Cursor& in) {
    const Packing& packing = program_.packings[op.packing];
    const auto bytes = in.take_items(times, op.count * packing.stored_size(), "packed numbers");
    const std::size_t n = bytes.size() / packing.stored_size();
    unpack(packing, bytes, slots_[op.slot].extend(n * (packing.to_double ? 8 : 4)));
  }

  void string(const Op& op, std::string_view text) {
    slots_[op.slot + 1].append(std::as_bytes(std::span(text)));
    slots_[op.slot].push(static_cast<std::int64_t>(slots_[op.slot + 1].size()));
  }
  void long_string(const Op& op, Cursor& in) {
    const auto length = in.big<std::int32_t>("length of a C string");
    if (length < 0) return in.reject("length of a C string");
    const auto bytes = in.take(static_cast<std::uint64_t>(length), "C string");
    string(op, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  void end_list(const Op& op, std::int64_t items) {
    totals_[op.slot + 1] += items;
    slots_[op.slot].push(totals_[op.slot + 1]);
  }
  void list(const Op& op, std::uint64_t n, Cursor& in) {
    times(op.block, n, in);
    end_list(op, static_cast<std::int64_t>(n));
  }
  void counted_list(const Op& op, Cursor& in) {
    const std::int64_t n = registers_[static_cast<std::size_t>(op.reg)];
    if (n < 0) return in.reject("size of an array");
    list(op, static_cast<std::uint64_t>(n), in);
  }

  // `block` n times. Every item takes a byte at least, so a count that cannot be true fails before the loop.
  void times(Block block, std::uint64_t n, Cursor& in) {
    if (block.empty()) return;
    if (n > in.left()) return n ? in.reject("size of a collection") : void();
    if (block.end - block.begin == 1) {
      const Op& only = program_.ops[block.begin];
      if (only.kind == Op::Kind::numbers) return numbers(only, n, in);
      if (only.kind == Op::Kind::packed) return packed(only, n, in);
    }
    for (std::uint64_t i = 0; i < n && !in.failed(); ++i) run(block, in);
  }

  void member_list(const Op& op, Cursor& in) {
    const auto n = in.big<std::uint32_t>("size of a collection");
    if (n > 0) {
      const std::uint64_t outer = std::exchange(repeat_, n);
      run(op.block, in);
      repeat_ = outer;
    }
    end_list(op, n);
  }

  void rest(const Op& op, Cursor& in) {
    std::int64_t n = 0;
    if (const Op& only = program_.ops[op.block.begin];
        op.block.end - op.block.begin == 1 && (only.kind == Op::Kind::numbers || only.kind == Op::Kind::packed)) {
      const std::size_t size = only.count * (only.kind == Op::Kind::numbers
                                                 ? std::size_t{only.item_size}
                                                 : program_.packings[only.packing].stored_size());
      if (in.left() % size != 0) return in.reject("entry is not a whole number of items");
      n = static_cast<std::int64_t>(in.left() / size);
      times(op.block, static_cast<std::uint64_t>(n), in);
    } else {
      for (; in.left() > 0; ++n) {
        const std::size_t before = in.position();
        run(op.block, in);
        if (in.position() == before) return in.reject("item without bytes");
      }
    }
    if (op.with_slot) end_list(op, n);
  }

  void counts(const Op& op, Cursor& in) {
    const auto n = in.big<std::int32_t>("count of a split collection");
    if (n < 0) return in.reject("count of a split collection");
    end_list(op, n);
  }

  const Program& program_;
  std::vector<ArrayBuilder> slots_;
  std::vector<std::int64_t> registers_, totals_;
  std::uint64_t repeat_ = 0;
};

Result<> run_entries(Runner& runner, const Program& program, const Entries& entries) {
  if (!entries.offsets.empty() && static_cast<std::int64_t>(entries.offsets.size()) != entries.count + 1)
    return fail(ErrorKind::damaged, "basket: " + std::to_string(entries.offsets.size()) + " offsets for " +
                                        std::to_string(entries.count) + " entries");
  if (entries.offsets.empty()) {
    if (program.needs_entry_ends && entries.count > 1)
      return fail(ErrorKind::damaged, "basket: entries of varying size without offsets");
    Cursor in(entries.data);
    for (std::int64_t i = 0; i < entries.count && !in.failed(); ++i) runner.run_entry(in);
    if (!in.failed() && in.left() != 0) in.reject("entries end before the basket does");
    return in.finish();
  }
  for (std::int64_t i = 0; i < entries.count; ++i) {
    const auto begin = static_cast<std::size_t>(entries.offsets[static_cast<std::size_t>(i)]);
    const auto end = static_cast<std::size_t>(entries.offsets[static_cast<std::size_t>(i) + 1]);
    if (begin > end || end > entries.data.size())
      return fail(ErrorKind::damaged, "basket: offset of entry " + std::to_string(i));
    Cursor in(entries.data.subspan(begin, end - begin));
    runner.run_entry(in);
    if (!in.failed() && in.left() != 0) in.reject("entry is longer than what was read of it");
    if (in.failed()) {
      Error error = in.error();
      error.text = "entry " + std::to_string(i) + " of the basket: " + error.text;
      return tl::unexpected<Error>(std::move(error));
    }
  }
  return {};
}

// Ends become absolute; the chunk that begins the column gets the leading 0.
Buffer finish_ends(ArrayBuilder& ends, std::int64_t base, bool leading_zero) {
  if (!leading_zero && base == 0) return ends.take();
  const std::size_t n = ends.size() / sizeof(std::int64_t);
  Buffer out((n + leading_zero) * sizeof(std::int64_t));
  auto* to = reinterpret_cast<std::int64_t*>(out.data());
  if (leading_zero) *to++ = 0;
  const auto* from = reinterpret_cast<const std::int64_t*>(ends.data());
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i] + base;
  return out;
}

std::int64_t slot_items(const Program& program, Runner& runner, std::size_t slot) {
  if (program.slots[slot].kind == Slot::Kind::hidden) return runner.total(slot);
  return static_cast<std::int64_t>(runner.array(slot).size() / program.slots[slot].item_size);
}

}  // namespace

Result<Chunk> run_program(const Program& program, const Entries& entries, std::span<const std::int64_t> first,
                          std::vector<std::int64_t>* items) {
  Runner runner(program);
  TRY_VOID(run_entries(runner, program, entries));
  Chunk chunk;
  for (std::size_t slot = 0; slot < program.slots.size(); ++slot) {
    if (items) items->push_back(slot_items(program, runner, slot));
    if (first.empty()) continue;
    ArrayBuilder& array = runner.array(slot);
    switch (program.slots[slot].kind) {
      case Slot::Kind::big_endian:
        swap_items({array.data(), array.size()}, program.slots[slot].number_size);
        chunk.owned.push_back(array.take());
        break;
      case Slot::Kind::boolean:
        normalize_booleans({array.data(), array.size()});
        [[fallthrough]];
      case Slot::Kind::native:
      case Slot::Kind::hidden:
        chunk.owned.push_back(array.take());
        break;
      case Slot::Kind::ends:
        chunk.owned.push_back(finish_ends(array, first[slot + 1], first[slot] == 0));
        break;
    }
    chunk.arrays.push_back(chunk.owned.back().span());
  }
  return chunk;
}

}  // namespace tfile
