// SPDX-License-Identifier: Apache-2.0
#include "streamer/layout/read_program.h"

#include <cstring>
#include <utility>

#include "bytes/cursor.h"
#include "streamer/info/object_frame.h"
#include "streamer/info/own_class.h"
#include "streamer/layout/array_builder.h"
#include "streamer/layout/chunk_of_arrays.h"
#include "streamer/layout/fixed_items.h"
#include "streamer/layout/met_objects.h"
#include "streamer/layout/packing.h"

namespace tfile {
namespace {

constexpr std::uint16_t kMemberWise = 0x4000;
// Objects to which many slots refer are read again for each slot. No real file reads more than this times its data.
constexpr std::size_t kReadAgainMax = 16;
constexpr std::size_t kReadAgainRoom = 1 << 16;
// Version 0 in a frame marks a class without ClassDef; its checksum follows.
constexpr std::uint16_t kForeign = 0;

// The version header of an object, whose end may lie outside the bytes.
struct Header {
  std::uint16_t version = 0;
  std::uint32_t checksum = 0;  // after version 0
  std::uint64_t end = 0;       // position after the object; 0: unknown
};

class Runner {
 public:
  // `found` collects classes that the program does not know; nullptr: these are errors.
  Runner(const Program& program, const Entries& entries, FoundClasses* found = nullptr);

  // `origin`: the position of byte 0 of the cursor, as object tags count.
  void run_entry(Cursor& in, std::uint32_t origin);
  // Why a valid entry cannot be read; empty if there is no such reason.
  const std::string& unsupported() const { return unsupported_; }
  const std::vector<ArrayBuilder>& arrays() const { return slots_; }
  std::int64_t total(std::size_t slot) const { return totals_[slot]; }

 private:
  void run(Block block, Cursor& in);
  void step(const Op& op, Cursor& in);

  // A version header: with a byte count (bit 30) if the size of the object is known, else only the version. A checksum
  // follows version 0, unless 0 is the version of the class itself: then `checksum` does not follow.
  static Header read_header(Cursor& in, std::uint32_t checksum = 0);
  static std::uint32_t next_word(const Cursor& in);
  static bool has_byte_count(const Cursor& in);
  void object(const Op& op, Cursor& in);
  Block form_of(const Op& op, const Header& frame) const;
  void tobject(const Op& op, Cursor& in);
  void numbers(const Op& op, std::uint64_t times, Cursor& in);
  static std::int64_t last_number(std::span<const std::byte> bytes, std::size_t item_size);
  void packed(const Op& op, std::uint64_t times, Cursor& in);
  void string(const Op& op, std::string_view text);
  void long_string(const Op& op, Cursor& in);
  void zero(const Op& op);
  bool is_hidden(std::uint32_t slot) const { return program_.slots[slot].kind == Slot::Kind::hidden; }
  void end_list(const Op& op, std::int64_t items);
  void list(const Op& op, std::uint64_t n, Cursor& in);
  // The value of the counter; for the current item, if it counts for each item.
  std::uint64_t counted(const Op& op, Cursor& in);
  void counted_list(const Op& op, Cursor& in) { list(op, counted(op, in), in); }
  void triangle_list(const Op& op, Cursor& in);

  // Runs `block` n times. Every item takes at least one byte, so an impossible count fails before the loop.
  void times(Block block, std::uint64_t n, Cursor& in);
  void run_items(Block block, std::uint64_t n, Cursor& in);

  // Reads items of fixed size until one differs. Returns their number.
  std::uint64_t run_alike(Block block, std::uint64_t n, Cursor& in);

  // The form of a block's items, learned from the first one; nullptr if they have no fixed size.
  const FixedItems* fixed_items(Block block, Cursor& in);

  // One member of all items of a member-wise collection. A counter keeps one value per item.
  void repeat(Block block, Cursor& in);
  bool uses_item(Block block) const;
  void counters(const Op& op, Cursor& in);
  void member_list(const Op& op, Cursor& in);
  void rest(const Op& op, Cursor& in);
  void counts(const Op& op, Cursor& in);

  // `T* p; //[n]` of objects, one after the other.
  void loop(const Op& op, Cursor& in);
  void slot_bytes(const Op& op, Cursor& in);
  // Appends the bytes from `begin` to the position of the cursor.
  void append_bytes(std::uint32_t slot, std::size_t begin, const Cursor& in);
  void refuse(const std::string& why, Cursor& in);
  void collection(const Op& op, Cursor& in);
  void clones(const Op& op, Cursor& in);
  void raw_clones(const Op& op, std::size_t begin, std::uint32_t n, const Header& frame, Cursor& in);

  // Reads a pointer slot. The class tag alone identifies the usual case: an object of the class that this pointer had
  // last.
  void pointer(const Op& op, Cursor& in);
  static int alternative_of(const PointerChoices& choices, std::string_view class_name);

  struct Pointed {
    int alternative;  // -1: none
    std::string_view class_name;
    std::size_t begin;  // of the slot
    std::uint64_t end;  // 0: unknown
  };
  void pointed_object(const Op& op, const PointerChoices& choices, const Pointed& object, Cursor& in);
  void run_one(Block block, Cursor& in);

  // An object of a class without an alternative: its bytes.
  void other_object(const Op& op, const PointerChoices& choices, const Pointed& object, Cursor& in);

  // A slot that refers to an object of this entry. If every object is an item of an alternative, the item is shared;
  // else the object is read again.
  void refer(const Op& op, const PointerChoices& choices, std::uint32_t identity, std::size_t begin, Cursor& in);

  // Slots op.slot + 2 and following count the items of the alternatives.
  static std::uint32_t alternative_slot(const Op& op, int alternative);
  void put_null(const Op& op, const PointerChoices& choices);
  void put(const Op& op, const PointerChoices& choices, int alternative);
  void put_other(const Op& op, const PointerChoices& choices, std::size_t begin, const Cursor& in);

  struct LastClass {
    std::uint32_t tag = 0;  // 0: none
    int alternative = -1;
    std::string_view class_name;
  };
  static constexpr std::int32_t kNotTried = -1, kNotFixed = -2;
  const Program& program_;
  FoundClasses* const found_;
  GrowingArrays own_slots_;
  std::vector<ArrayBuilder>& slots_;
  std::vector<std::int64_t> registers_;
  std::vector<std::vector<std::int64_t>> item_registers_;  // for each item of the member-wise collection being read
  std::vector<std::int64_t> totals_;
  std::vector<std::int32_t>
      fixed_of_block_;  // by first instruction of the block: an index of fixed_, or why there is none
  std::vector<FixedItems> fixed_;
  std::vector<LastClass> last_class_;  // by pointer
  MetObjects met_;
  std::uint32_t origin_ = 0;
  std::uint64_t repeat_ = 0;
  std::size_t item_ = 0;
  std::size_t read_again_left_;
  // Items that may still take no bytes. Lists of them in lists would else take the product of their counts.
  std::size_t idle_left_;
  bool is_reading_again_ = false;
  std::string unsupported_;
};

Runner::Runner(const Program& program, const Entries& entries, FoundClasses* found)
    : program_(program),
      found_(found),
      own_slots_(program.slots.size()),
      slots_(own_slots_.all()),
      registers_(program.registers),
      item_registers_(program.registers),
      totals_(program.slots.size()),
      fixed_of_block_(program.ops.size() + 1, kNotTried),
      last_class_(program.pointers.size()),
      read_again_left_(entries.data.size() * kReadAgainMax + kReadAgainRoom),
      idle_left_(entries.data.size()) {
  if (program.item_counts >= 0)
    item_registers_[static_cast<std::size_t>(program.item_counts)].assign(entries.item_counts.begin(),
                                                                          entries.item_counts.end());
}

void Runner::run_entry(Cursor& in, std::uint32_t origin) {
  origin_ = origin;
  if (!program_.pointers.empty()) {
    met_.clear();
    last_class_.assign(last_class_.size(), {});
  }
  if (!(program_.entry_is_items && in.left() == 0)) run(program_.main, in);
}

void Runner::run(Block block, Cursor& in) {
  for (std::uint32_t i = block.begin; i < block.end && !in.failed(); ++i) step(program_.ops[i], in);
}

void Runner::step(const Op& op, Cursor& in) {
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
      read_header(in);
      return;
    case Op::Kind::object:
      return object(op, in);
    case Op::Kind::loop:
      return loop(op, in);
    case Op::Kind::pointer:
      return pointer(op, in);
    case Op::Kind::slot_bytes:
      return slot_bytes(op, in);
    case Op::Kind::collection:
      return collection(op, in);
    case Op::Kind::clones:
      return clones(op, in);
    case Op::Kind::zero:
      return zero(op);
    case Op::Kind::no_items:
      slots_[op.slot].push(is_hidden(op.slot + 1) ? totals_[op.slot + 1]
                                                  : static_cast<std::int64_t>(slots_[op.slot + 1].size()));
      return;
    case Op::Kind::unknown:
      return refuse(program_.unknown[op.table], in);
    case Op::Kind::tobject:
      return tobject(op, in);
    case Op::Kind::list:
      return list(op, in.big<std::uint32_t>("size of a collection"), in);
    case Op::Kind::fixed_list:
      return list(op, op.count, in);
    case Op::Kind::counted_list:
      return counted_list(op, in);
    case Op::Kind::triangle_list:
      return triangle_list(op, in);
    case Op::Kind::flagged_list:
      return in.u1("flag of an array") ? counted_list(op, in) : list(op, 0, in);
    case Op::Kind::stl:
      return run(read_header(in).version & kMemberWise ? op.other : op.block, in);
    case Op::Kind::bits:
      return slots_[op.slot].append(read_object_bits(in).bits);
    case Op::Kind::value_version:
      if (in.big<std::uint16_t>("version of a value class") == kForeign) in.skip(4, "checksum of a value class");
      return;
    case Op::Kind::member_list:
      return member_list(op, in);
    case Op::Kind::repeat:
      return repeat(op.block, in);
    case Op::Kind::rest:
      return rest(op, in);
    case Op::Kind::counts:
      return counts(op, in);
  }
}

Header Runner::read_header(Cursor& in, std::uint32_t checksum) {
  Header frame;
  const std::size_t start = in.position();
  const auto word = in.left() < 4 ? 0 : in.big<std::uint32_t>("byte count");
  if (word & kByteCountBit) {
    frame.end = start + 4 + (word & ~kByteCountBit);
    frame.version = in.big<std::uint16_t>("version");
  } else {
    in.seek(start, "version");
    frame.version = in.big<std::uint16_t>("version");
  }
  if (frame.version == kForeign && (checksum == 0 || next_word(in) == checksum))
    frame.checksum = in.big<std::uint32_t>("checksum of a class");
  return frame;
}

std::uint32_t Runner::next_word(const Cursor& in) {
  return in.left() < 4 ? 0 : load_big<std::uint32_t>(in.bytes().data() + in.position());
}

bool Runner::has_byte_count(const Cursor& in) {
  const std::uint32_t word = next_word(in);
  return (word & (kByteCountBit | kClassBit)) == kByteCountBit && (word & ~kByteCountBit) <= in.left() - 4;
}

void Runner::object(const Op& op, Cursor& in) {
  if (op.is_bare && !has_byte_count(in)) return run(op.block, in);
  const Header frame = read_header(in, op.checksum);
  run(op.forms == 0 ? op.block : form_of(op, frame), in);
  if (frame.end != 0 && frame.end != in.position()) in.reject("object does not end where its byte count says");
}

Block Runner::form_of(const Op& op, const Header& frame) const {
  const ClassVersions& forms = program_.forms[op.forms - 1u];
  if (forms.main.is(frame.version, frame.checksum)) return op.block;
  for (const ClassVersions::Written& form : forms.others) {
    if (form.is(frame.version, frame.checksum)) return form.block;
  }
  return op.block;
}

void Runner::tobject(const Op& op, Cursor& in) {
  const TObjectParts parts = read_tobject(in);
  slots_[op.slot].append(parts.unique_id);
  slots_[op.slot + 1].append(parts.bits);
}

void Runner::numbers(const Op& op, std::uint64_t times, Cursor& in) {
  const auto bytes = in.take_items(times, std::size_t{op.count} * op.item_size, "numbers");
  slots_[op.slot].append(bytes);
  if (op.reg >= 0 && bytes.size() >= op.item_size)
    registers_[static_cast<std::size_t>(op.reg)] = last_number(bytes, op.item_size);
}

std::int64_t Runner::last_number(std::span<const std::byte> bytes, std::size_t item_size) {
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

void Runner::packed(const Op& op, std::uint64_t times, Cursor& in) {
  const Packing& packing = program_.packings[op.packing];
  const auto bytes = in.take_items(times, op.count * packing.stored_size(), "packed numbers");
  const std::size_t n = bytes.size() / packing.stored_size();
  unpack(packing, bytes, slots_[op.slot].extend(n * (packing.to_double ? 8 : 4)));
}

void Runner::string(const Op& op, std::string_view text) {
  slots_[op.slot + 1].append(std::as_bytes(std::span(text)));
  slots_[op.slot].push(static_cast<std::int64_t>(slots_[op.slot + 1].size()));
}

void Runner::long_string(const Op& op, Cursor& in) {
  const auto length = in.big<std::int32_t>("length of a C string");
  if (length < 0) return in.reject("length of a C string");
  const auto bytes = in.take(static_cast<std::uint64_t>(length), "C string");
  string(op, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void Runner::zero(const Op& op) {
  const std::size_t size = program_.slots[op.slot].item_size;
  std::memset(slots_[op.slot].extend(size), 0, size);
}

void Runner::end_list(const Op& op, std::int64_t items) {
  totals_[op.slot + 1] += items;
  slots_[op.slot].push(totals_[op.slot + 1]);
}

void Runner::list(const Op& op, std::uint64_t n, Cursor& in) {
  times(op.block, n, in);
  end_list(op, static_cast<std::int64_t>(n));
}

std::uint64_t Runner::counted(const Op& op, Cursor& in) {
  const auto reg = static_cast<std::size_t>(op.reg);
  std::int64_t n = registers_[reg];
  if (op.of_item) n = item_ < item_registers_[reg].size() ? item_registers_[reg][item_] : -1;
  if (n < 0) in.reject("size of an array");
  return n < 0 ? 0 : static_cast<std::uint64_t>(n);
}

void Runner::triangle_list(const Op& op, Cursor& in) {
  const std::uint64_t square = counted(op, in);
  std::uint64_t n = 0;
  while (n * n < square && n <= in.left()) ++n;
  if (n * n != square) return in.reject("size of a symmetric matrix");
  list(op, n * (n + 1) / 2, in);
}

void Runner::times(Block block, std::uint64_t n, Cursor& in) {
  if (block.empty()) return;
  if (n > in.left()) return n ? in.reject("size of a collection") : void();
  if (block.end - block.begin == 1) {
    const Op& only = program_.ops[block.begin];
    if (only.kind == Op::Kind::numbers) return numbers(only, n, in);
    if (only.kind == Op::Kind::packed) return packed(only, n, in);
  }
  run_items(block, n, in);
}

void Runner::run_items(Block block, std::uint64_t n, Cursor& in) {
  for (std::uint64_t i = 0; i < n && !in.failed(); ++i) {
    i += run_alike(block, n - i, in);
    if (i == n) return;
    const std::size_t before = in.position();
    run(block, in);
    if (in.position() == before && idle_left_-- == 0) return in.reject("items without bytes");
  }
}

std::uint64_t Runner::run_alike(Block block, std::uint64_t n, Cursor& in) {
  const FixedItems* fixed = fixed_items(block, in);
  if (!fixed) return 0;
  const std::byte* at = in.bytes().data() + in.position();
  const std::size_t alike = fixed->count_alike(at, std::min<std::uint64_t>(n, in.left() / fixed->size()));
  fixed->gather(program_, at, alike, slots_);
  in.skip(alike * fixed->size(), "items");
  return alike;
}

const FixedItems* Runner::fixed_items(Block block, Cursor& in) {
  std::int32_t& known = fixed_of_block_[block.begin];
  if (known == kNotTried) {
    FixedItems fixed;
    known = kNotFixed;
    if (fixed.learn(program_, block, in.bytes().subspan(in.position()))) {
      known = static_cast<std::int32_t>(fixed_.size());
      fixed_.push_back(std::move(fixed));
    }
  }
  return known == kNotFixed ? nullptr : &fixed_[static_cast<std::size_t>(known)];
}

void Runner::repeat(Block block, Cursor& in) {
  if (block.empty()) return;
  const Op& only = program_.ops[block.begin];
  if (only.kind == Op::Kind::numbers && only.reg >= 0 && block.end - block.begin == 1) return counters(only, in);
  if (fixed_items(block, in) || !uses_item(block)) return times(block, repeat_, in);
  if (repeat_ > in.left()) return in.reject("size of a collection");
  const std::size_t outer = item_;
  for (item_ = 0; item_ < repeat_ && !in.failed(); ++item_) run(block, in);
  item_ = outer;
}

bool Runner::uses_item(Block block) const {
  for (std::uint32_t i = block.begin; i < block.end; ++i) {
    if (program_.ops[i].of_item) return true;
  }
  return false;
}

void Runner::counters(const Op& op, Cursor& in) {
  if (repeat_ > in.left()) return in.reject("size of a collection");
  auto& counts = item_registers_[static_cast<std::size_t>(op.reg)];
  counts.resize(repeat_);
  for (std::int64_t& count : counts) {
    numbers(op, 1, in);
    count = registers_[static_cast<std::size_t>(op.reg)];
  }
}

void Runner::member_list(const Op& op, Cursor& in) {
  const auto n = in.big<std::uint32_t>("size of a collection");
  if (n > 0) {
    const std::uint64_t outer = std::exchange(repeat_, n);
    run(op.block, in);
    repeat_ = outer;
  }
  end_list(op, n);
}

void Runner::rest(const Op& op, Cursor& in) {
  std::int64_t n = 0;
  if (const Op& only = program_.ops[op.block.begin];
      op.block.end - op.block.begin == 1 && (only.kind == Op::Kind::numbers || only.kind == Op::Kind::packed)) {
    const std::size_t size =
        only.count *
        (only.kind == Op::Kind::numbers ? std::size_t{only.item_size} : program_.packings[only.packing].stored_size());
    if (in.left() % size != 0) return in.reject("entry is not a whole number of items");
    n = static_cast<std::int64_t>(in.left() / size);
    times(op.block, static_cast<std::uint64_t>(n), in);
  } else {
    while (in.left() > 0) {
      const std::size_t before = in.position();
      if (const auto alike = run_alike(op.block, in.left(), in)) {
        n += static_cast<std::int64_t>(alike);
        continue;
      }
      run(op.block, in);
      ++n;
      ++item_;
      if (in.position() == before) return in.reject("item without bytes");
    }
  }
  if (op.with_slot) end_list(op, n);
}

void Runner::counts(const Op& op, Cursor& in) {
  const auto n = in.big<std::int32_t>("count of a split collection");
  if (n < 0) return in.reject("count of a split collection");
  end_list(op, n);
}

void Runner::loop(const Op& op, Cursor& in) {
  const Header frame = op.in_frame ? Header() : read_header(in);
  std::uint64_t items = 0, each = 0;
  if (op.reg >= 0) {
    each = counted(op, in);
    items = each * op.count;
    times(op.block, items, in);
  } else {
    if (frame.end == 0) return in.reject("array of objects without a byte count");
    for (; in.position() < frame.end && !in.failed(); ++items) {
      const std::size_t before = in.position();
      run(op.block, in);
      if (in.position() == before) return in.reject("array of objects without bytes");
    }
    each = items / op.count;
  }
  if (in.failed()) return;
  if (items != each * op.count || (frame.end != 0 && frame.end != in.position()))
    return in.reject("array of objects does not end where its byte count says");
  if (op.count == 1) return end_list(op, static_cast<std::int64_t>(each));
  Op inner;
  inner.slot = op.slot + 2;
  for (std::uint32_t i = 0; i < op.count; ++i) end_list(inner, static_cast<std::int64_t>(each));
  end_list(op, op.count);
}

void Runner::slot_bytes(const Op& op, Cursor& in) {
  const std::size_t begin = in.position();
  const auto word = in.big<std::uint32_t>("pointer: tag");
  if ((word & kByteCountBit) && word != kNewClass) {
    in.skip(word & ~kByteCountBit, "object");
  } else if (word & kClassBit) {
    return in.reject("object without a byte count");
  }
  append_bytes(op.slot, begin, in);
}

void Runner::append_bytes(std::uint32_t slot, std::size_t begin, const Cursor& in) {
  if (in.failed()) return;
  slots_[slot + 1].append(in.bytes().subspan(begin, in.position() - begin));
  slots_[slot].push(static_cast<std::int64_t>(slots_[slot + 1].size()));
}

void Runner::refuse(const std::string& why, Cursor& in) {
  unsupported_ = why;
  in.reject("entry");
}

void Runner::collection(const Op& op, Cursor& in) {
  const Header frame = read_header(in);
  const std::uint32_t n = read_collection_head(in, *op.own, frame.version).count;
  if (op.own->has_options(frame.version)) {
    for (std::uint32_t i = 0; i < n && !in.failed(); ++i) {
      run(op.block, in);
      in.string("TList: option");
    }
    end_list(op, n);
  } else {
    list(op, n, in);
  }
  if (frame.end != 0 && frame.end != in.position()) in.reject("collection does not end where its byte count says");
}

void Runner::clones(const Op& op, Cursor& in) {
  const ClonesChoice& choice = program_.clones[op.table];
  const std::size_t begin = in.position();
  const Header frame = read_header(in);
  const CollectionHead head = read_collection_head(in, *op.own, frame.version);
  const std::string_view class_name = head.items.class_name;
  const std::uint32_t n = head.count;
  if (in.failed()) return;
  if (choice.is_raw) return raw_clones(op, begin, n, frame, in);
  if (class_name != choice.class_name) {
    if (found_ && !class_name.empty()) (*found_)[choice.place].insert(head.items.text());
    if (n > 0 && found_ && frame.end != 0) return in.seek(frame.end, "TClonesArray: end");
    if (n > 0)
      return refuse("TClonesArray of class " + std::string(class_name) + ", which the first entries do not have", in);
  }
  // Even without items, collections among the members have their headers.
  if (n == 0 && frame.end != 0) return in.seek(frame.end, "TClonesArray: end"), end_list(op, 0);
  if (head.tobject.flags & kBypassStreamerBit) {
    const std::uint64_t outer = std::exchange(repeat_, n);
    run(choice.member_wise, in);
    repeat_ = outer;
  } else {
    for (std::uint32_t i = 0; i < n && !in.failed(); ++i) {
      if (in.u1("TClonesArray: flag") == 0) return refuse("TClonesArray with empty slots", in);
      run(choice.object_wise, in);
    }
  }
  end_list(op, n);
  if (frame.end != 0 && frame.end != in.position()) in.reject("TClonesArray does not end where its byte count says");
  if (in.failed() && unsupported_.empty() && head.items.version != choice.version)
    refuse("the items of a TClonesArray have version " + std::to_string(head.items.version) + " of class " +
               choice.class_name + ", the newest described version is " + std::to_string(choice.version),
           in);
}

void Runner::raw_clones(const Op& op, std::size_t begin, std::uint32_t n, const Header& frame, Cursor& in) {
  if (frame.end == 0 && n > 0) return refuse("TClonesArray without a byte count", in);
  if (frame.end != 0) in.seek(frame.end, "TClonesArray: end");
  append_bytes(op.slot, n > 0 ? begin : in.position(), in);
}

void Runner::pointer(const Op& op, Cursor& in) {
  const PointerChoices& choices = program_.pointers[op.table];
  LastClass& last = last_class_[op.table];
  const std::size_t begin = in.position();
  if (last.tag != 0 && in.left() >= 8) {
    const std::byte* at = in.bytes().data() + begin;
    const auto count = load_big<std::uint32_t>(at);
    const std::uint64_t end = begin + 4 + (count & ~kByteCountBit);
    if ((count & (kByteCountBit | kClassBit)) == kByteCountBit && load_big<std::uint32_t>(at + 4) == last.tag &&
        end <= in.size()) {
      in.skip(8, "pointer");
      return pointed_object(op, choices, {last.alternative, last.class_name, begin, end}, in);
    }
  }
  const ObjectTag tag = read_object_tag(in, origin_);
  if (in.failed()) return;
  if (tag.kind == ObjectTag::Kind::null) return put_null(op, choices);
  if (tag.kind == ObjectTag::Kind::reference) return refer(op, choices, tag.identity, begin, in);
  const int alternative = alternative_of(choices, tag.class_name);
  if (tag.counted) {
    const auto word = load_big<std::uint32_t>(in.bytes().data() + begin + 4);
    const auto position = static_cast<std::uint32_t>(begin + 4) + origin_ + kTagOffset;
    last = {word == kNewClass ? (position | kClassBit) : word, alternative, tag.class_name};
  }
  pointed_object(op, choices, {alternative, tag.class_name, begin, tag.counted ? tag.end : 0}, in);
}

int Runner::alternative_of(const PointerChoices& choices, std::string_view class_name) {
  for (std::size_t i = 0; i < choices.alternatives.size(); ++i) {
    if (choices.alternatives[i].class_name == class_name) return static_cast<int>(i);
  }
  return -1;
}

void Runner::pointed_object(const Op& op, const PointerChoices& choices, const Pointed& object, Cursor& in) {
  std::size_t number = 0;
  if (!is_reading_again_) {
    const auto identity = static_cast<std::uint32_t>(object.begin) + origin_ + kTagOffset;
    const bool is_item = object.alternative >= 0 && !choices.is_optional;
    number = met_.add({identity, object.class_name, in.position(), false, op.table,
                       is_item ? totals_[alternative_slot(op, object.alternative)] : -1});
  }
  if (object.alternative >= 0) {
    put(op, choices, object.alternative);
    run_one(choices.alternatives[static_cast<std::size_t>(object.alternative)].block, in);
    if (object.end != 0 && object.end != in.position()) in.reject("object does not end where its byte count says");
  } else {
    other_object(op, choices, object, in);
  }
  if (!is_reading_again_) met_.at(number).is_complete = true;
}

void Runner::run_one(Block block, Cursor& in) {
  if (!block.empty() && run_alike(block, 1, in) == 0) run(block, in);
}

void Runner::other_object(const Op& op, const PointerChoices& choices, const Pointed& object, Cursor& in) {
  if (found_) (*found_)[choices.place].emplace(object.class_name);
  if (object.end == 0 || (choices.other < 0 && !found_))
    return refuse("object of class " + std::string(object.class_name) +
                      ", which according to the file this pointer cannot point to",
                  in);
  in.seek(object.end, "object: end");
  if (choices.other >= 0) put_other(op, choices, object.begin, in);
}

void Runner::refer(const Op& op, const PointerChoices& choices, std::uint32_t identity, std::size_t begin, Cursor& in) {
  const MetObjects::Object* met = met_.find(identity);
  const int alternative = met && met->is_complete ? alternative_of(choices, met->class_name) : -1;
  if (alternative < 0) {
    if (met && met->is_complete && found_) (*found_)[choices.place].emplace(met->class_name);
    if (choices.other >= 0) return put_other(op, choices, begin, in);
    if (found_) return;
    return refuse("reference to an object that was not read before it", in);
  }
  if (!choices.is_optional && met->table == op.table && met->item >= 0) {
    slots_[op.slot].push(static_cast<std::int8_t>(alternative + 1));
    slots_[op.slot + 1].push(met->item);
    return;
  }
  put(op, choices, alternative);
  const std::size_t back = in.position();
  const bool outer = std::exchange(is_reading_again_, true);
  in.seek(met->body, "object");
  const std::size_t body = in.position();
  run_one(choices.alternatives[static_cast<std::size_t>(alternative)].block, in);
  if (in.failed()) return;
  if (in.position() - body > read_again_left_) return in.reject("references to objects");
  read_again_left_ -= in.position() - body;
  is_reading_again_ = outer;
  in.seek(back, "pointer");
}

std::uint32_t Runner::alternative_slot(const Op& op, int alternative) {
  return op.slot + 2 + static_cast<std::uint32_t>(alternative);
}

void Runner::put_null(const Op& op, const PointerChoices& choices) {
  if (choices.is_optional) return end_list(op, 0);
  slots_[op.slot].push(std::int8_t{0});
  slots_[op.slot + 1].push(std::int64_t{0});
}

void Runner::put(const Op& op, const PointerChoices& choices, int alternative) {
  if (choices.is_optional) return end_list(op, 1);
  slots_[op.slot].push(static_cast<std::int8_t>(alternative + 1));
  slots_[op.slot + 1].push(totals_[alternative_slot(op, alternative)]++);
}

void Runner::put_other(const Op& op, const PointerChoices& choices, std::size_t begin, const Cursor& in) {
  put(op, choices, static_cast<int>(choices.alternatives.size()));
  append_bytes(static_cast<std::uint32_t>(choices.other), begin, in);
}

std::uint32_t displacement_of(const Entries& entries, std::int64_t entry) {
  const auto i = static_cast<std::size_t>(entry);
  return i < entries.displacement.size() ? static_cast<std::uint32_t>(entries.displacement[i]) : 0;
}

Result<> run_entries(Runner& runner, const Program& program, const Entries& entries) {
  if (!entries.offsets.empty() && static_cast<std::int64_t>(entries.offsets.size()) != entries.count + 1)
    return fail(ErrorKind::damaged, "basket: " + std::to_string(entries.offsets.size()) + " offsets for " +
                                        std::to_string(entries.count) + " entries");
  if (entries.offsets.empty()) {
    if (program.needs_entry_ends && entries.count > 1)
      return fail(ErrorKind::damaged, "basket: " + std::to_string(entries.data.size()) + " bytes for " +
                                          std::to_string(entries.count) + " entries of varying size, without offsets");
    Cursor in(entries.data);
    for (std::int64_t i = 0; i < entries.count && !in.failed(); ++i) runner.run_entry(in, entries.origin);
    if (!in.failed() && in.left() != 0) in.reject("basket has bytes after its entries");
    if (!runner.unsupported().empty()) return fail(ErrorKind::unsupported, runner.unsupported());
    return in.finish();
  }
  for (std::int64_t i = 0; i < entries.count; ++i) {
    const auto begin = static_cast<std::size_t>(entries.offsets[static_cast<std::size_t>(i)]);
    const auto end = static_cast<std::size_t>(entries.offsets[static_cast<std::size_t>(i) + 1]);
    if (begin > end || end > entries.data.size())
      return fail(ErrorKind::damaged, "basket: entry " + std::to_string(i) + " is bytes " + std::to_string(begin) +
                                          " to " + std::to_string(end) + " of " + std::to_string(entries.data.size()));
    Cursor in(entries.data.subspan(begin, end - begin));
    runner.run_entry(in, entries.origin + static_cast<std::uint32_t>(begin) - displacement_of(entries, i));
    if (!in.failed() && in.left() != 0) in.reject("entry has unread bytes");
    if (in.failed()) {
      Error error = in.error();
      if (!runner.unsupported().empty()) error = {ErrorKind::unsupported, runner.unsupported(), -1, 0};
      error.text = "entry " + std::to_string(i) + " of the basket: " + error.text;
      return tl::unexpected<Error>(std::move(error));
    }
  }
  return {};
}

std::int64_t slot_items(const Program& program, Runner& runner, std::size_t slot) {
  if (program.slots[slot].kind == Slot::Kind::hidden) return runner.total(slot);
  return static_cast<std::int64_t>(runner.arrays()[slot].size() / program.slots[slot].item_size);
}

}  // namespace

FoundClasses find_classes(const Program& program, const Entries& entries) {
  FoundClasses found;
  Runner runner(program, entries, &found);
  (void)run_entries(runner, program, entries);
  return found;
}

Result<Chunk> run_program(const Program& program, const Entries& entries, std::span<const std::int64_t> first,
                          std::vector<std::int64_t>* items) {
  Runner runner(program, entries);
  TRY_VOID(run_entries(runner, program, entries));
  for (std::size_t slot = 0; items && slot < program.slots.size(); ++slot)
    items->push_back(slot_items(program, runner, slot));
  return first.empty() ? Chunk() : chunk_of_arrays(program, runner.arrays(), first);
}

}  // namespace tfile
