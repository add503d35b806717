// SPDX-License-Identifier: Apache-2.0
// Programs for random types read what was written, in one chunk or two, and refuse it when cut.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "format/streamer/entries_image.h"
#include "format/streamer/program_maker.h"

namespace tfile {
namespace {

using test::EntriesImage;
using test::ProgramMaker;
using Kind = Op::Kind;

constexpr std::uint16_t kMemberWiseMark = 0x4000;

struct Type {
  enum class Kind {
    number,
    boolean,
    string,
    tobject,
    list,
    fixed_list,
    counted,
    object,
    either_form
  } kind = Kind::number;
  std::uint8_t size = 1;
  std::vector<std::unique_ptr<Type>> parts;
  Op op;  // with its slots, after compilation
  Op counter;
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  unsigned below(unsigned n) { return static_cast<unsigned>(engine_() % n); }

 private:
  std::mt19937 engine_;
};

std::unique_ptr<Type> random_type(Random& random, int depth) {
  auto type = std::make_unique<Type>();
  type->kind = static_cast<Type::Kind>(random.below(depth > 3 ? 4 : 9));
  type->size = static_cast<std::uint8_t>(1u << random.below(4));
  if (type->kind >= Type::Kind::list) {
    const unsigned parts = 1 + random.below(3);
    for (unsigned i = 0; i < parts; ++i) type->parts.push_back(random_type(random, depth + 1));
  }
  return type;
}

Op compile(Type& type, ProgramMaker& maker);

std::vector<Op> compile_parts(Type& type, ProgramMaker& maker) {
  std::vector<Op> ops;
  for (auto& part : type.parts) {
    const Op op = compile(*part, maker);
    if (part->kind == Type::Kind::counted) ops.push_back(part->counter);
    ops.push_back(op);
  }
  return ops;
}

Op compile_list(Type& type, ProgramMaker& maker, Kind kind) {
  Op op = maker.list(kind);
  op.block = maker.block(compile_parts(type, maker));
  return op;
}

// Object-wise and member-wise: the latter runs each part once for all items.
Op compile_either_form(Type& type, ProgramMaker& maker) {
  Op list = maker.list(Kind::list);
  list.block = maker.block(compile_parts(type, maker));
  std::vector<Op> each;
  for (auto& part : type.parts) {
    Op repeat{.kind = Kind::repeat};
    repeat.block = maker.block(part->kind == Type::Kind::counted ? std::vector<Op>{part->counter, part->op}
                                                                 : std::vector<Op>{part->op});
    each.push_back(repeat);
  }
  Op members = list;
  members.kind = Kind::member_list;
  members.block = maker.block(each);
  Op stl{.kind = Kind::stl, .slot = list.slot};
  stl.block = maker.block({list});
  stl.other = maker.block({{.kind = Kind::value_version}, members});
  return stl;
}

Op compile(Type& type, ProgramMaker& maker) {
  switch (type.kind) {
    case Type::Kind::number:
      type.op = maker.numbers(type.size);
      break;
    case Type::Kind::boolean:
      type.op = maker.booleans();
      break;
    case Type::Kind::string:
      type.op = maker.string();
      break;
    case Type::Kind::tobject:
      type.op = {.kind = Kind::tobject, .slot = maker.slot({Slot::Kind::big_endian, 4, 4})};
      maker.slot({Slot::Kind::big_endian, 4, 4});
      break;
    case Type::Kind::list:
      type.op = compile_list(type, maker, Kind::list);
      break;
    case Type::Kind::fixed_list:
      type.op = compile_list(type, maker, Kind::fixed_list);
      type.op.count = 1 + type.size % 4;
      break;
    case Type::Kind::counted:
      type.counter = maker.into_register(maker.numbers(4));
      type.op = compile_list(type, maker, Kind::flagged_list);
      type.op.reg = type.counter.reg;
      break;
    case Type::Kind::object:
      type.op = {.kind = Kind::object};
      type.op.block = maker.block(compile_parts(type, maker));
      break;
    case Type::Kind::either_form:
      type.op = compile_either_form(type, maker);
      break;
  }
  return type.op;
}

// Writes random values, and the arrays that they must give.
class Writer {
 public:
  Writer(Random& random, const Program& program)
      : arrays(program.slots.size()), totals(program.slots.size()), random_(random) {}

  void write(const Type& type) {
    switch (type.kind) {
      case Type::Kind::number: {
        std::vector<std::byte> bytes(type.size);
        for (std::byte& b : bytes) b = static_cast<std::byte>(random_.below(256));
        image.all().insert(image.all().end(), bytes.begin(), bytes.end());
        arrays[type.op.slot].insert(arrays[type.op.slot].end(), bytes.rbegin(), bytes.rend());
        return;
      }
      case Type::Kind::boolean: {
        const unsigned value = random_.below(3);
        image.put(static_cast<std::uint8_t>(value));
        arrays[type.op.slot].push_back(std::byte{value != 0});
        return;
      }
      case Type::Kind::string: {
        const std::string text(random_.below(20) == 0 ? 300 : random_.below(4), 'x');
        image.put_string(text);
        for (const char c : text) arrays[type.op.slot + 1].push_back(static_cast<std::byte>(c));
        push(type.op.slot, static_cast<std::int64_t>(arrays[type.op.slot + 1].size()));
        return;
      }
      case Type::Kind::tobject: {
        const bool referenced = random_.below(2) == 0;
        image.tobject(referenced);
        push(type.op.slot, std::uint32_t{0});
        push(type.op.slot + 1, std::uint32_t{referenced ? 0x03000010u : 0x03000000u});
        return;
      }
      case Type::Kind::list:
        return items(type, true, random_.below(4));
      case Type::Kind::fixed_list:
        return items(type, false, type.op.count);
      case Type::Kind::counted: {
        const unsigned n = random_.below(4);
        const bool flag = random_.below(4) != 0;
        image.put(n);
        push(type.counter.slot, n);
        image.put(std::uint8_t{flag});
        return items(type, false, flag ? n : 0);
      }
      case Type::Kind::object: {
        const std::size_t at = image.open(2);
        parts(type);
        image.close(at);
        return;
      }
      case Type::Kind::either_form:
        return either_form(type);
    }
  }

  EntriesImage image;
  std::vector<std::vector<std::byte>> arrays;
  std::vector<std::int64_t> totals;

 private:
  template <class T>
  void push(std::size_t slot, T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    arrays[slot].insert(arrays[slot].end(), bytes, bytes + sizeof value);
  }
  void parts(const Type& type) {
    for (const auto& part : type.parts) write(*part);
  }
  void end_list(const Type& type, unsigned n) { push(type.op.slot, totals[type.op.slot + 1] += n); }
  void items(const Type& type, bool counted, unsigned n) {
    if (counted) image.put(n);
    for (unsigned i = 0; i < n; ++i) parts(type);
    end_list(type, n);
  }
  void either_form(const Type& type) {
    const bool member_wise = random_.below(2) == 0;
    const std::size_t at = image.open(member_wise ? 9 | kMemberWiseMark : 9);
    const unsigned n = random_.below(4);
    if (member_wise) {
      image.put(std::uint16_t{1});
      image.put(n);
      for (const auto& part : type.parts) {
        for (unsigned i = 0; i < n; ++i) write(*part);
      }
      end_list(type, n);
    } else {
      items(type, true, n);
    }
    image.close(at);
  }

  Random& random_;
};

std::vector<std::byte> bytes_of(std::span<const std::byte> span) { return {span.begin(), span.end()}; }

// The arrays of a whole column: with a leading 0 for ends.
std::vector<std::vector<std::byte>> whole_arrays(const Program& program, std::vector<std::vector<std::byte>> arrays) {
  for (std::size_t slot = 0; slot < arrays.size(); ++slot) {
    if (program.slots[slot].kind == Slot::Kind::ends) arrays[slot].insert(arrays[slot].begin(), 8, std::byte{0});
  }
  return arrays;
}

// Decodes the entries in chunks that end at `cuts`, in the order in which a column is read.
std::vector<std::vector<std::byte>> in_chunks(const Program& program, const Entries& all,
                                              const std::vector<std::size_t>& cuts) {
  std::vector<std::vector<std::byte>> columns(program.slots.size());
  std::vector<std::int64_t> first(program.slots.size(), 0);
  std::size_t begin = 0;
  for (const std::size_t end : cuts) {
    std::vector<std::int32_t> offsets;
    for (std::size_t i = begin; i <= end; ++i) offsets.push_back(all.offsets[i] - all.offsets[begin]);
    const auto data =
        all.data.subspan(static_cast<std::size_t>(all.offsets[begin]), static_cast<std::size_t>(offsets.back()));
    const Entries entries{data, offsets, static_cast<std::int64_t>(end - begin)};
    std::vector<std::int64_t> items;
    EXPECT_TRUE(run_program(program, entries, {}, &items));
    const auto chunk = run_program(program, entries, first, nullptr);
    EXPECT_TRUE(chunk) << chunk.error().text;
    if (!chunk) return {};
    for (std::size_t slot = 0; slot < columns.size(); ++slot) {
      columns[slot].insert(columns[slot].end(), chunk->arrays[slot].begin(), chunk->arrays[slot].end());
      first[slot] += items[slot] + (begin == 0 && program.slots[slot].kind == Slot::Kind::ends);
    }
    begin = end;
  }
  return columns;
}

TEST(ReadProgramProperty, RandomTypesReadBackWhatWasWritten) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const auto type = random_type(random, 0);
    ProgramMaker maker;
    const Op op = compile(*type, maker);
    const Program program =
        maker.make(type->kind == Type::Kind::counted ? std::vector<Op>{type->counter, op} : std::vector<Op>{op});
    Writer writer(random, program);
    const unsigned count = 1 + random.below(6);
    for (unsigned i = 0; i < count; ++i) {
      writer.write(*type);
      writer.image.end_entry();
    }
    const auto expected = whole_arrays(program, writer.arrays);
    const Entries entries = writer.image.with_offsets();
    ASSERT_EQ(in_chunks(program, entries, {count}), expected) << seed;
    const std::size_t cut = random.below(count + 1);
    ASSERT_EQ(in_chunks(program, entries, {cut, count}), expected) << seed;
    // A program that finds the end of each entry itself does not need offsets.
    const std::vector<std::int64_t> first(program.slots.size(), 0);
    const auto chunk = run_program(program, writer.image.without_offsets(), first, nullptr);
    ASSERT_TRUE(chunk) << seed;
    for (std::size_t slot = 0; slot < expected.size(); ++slot)
      ASSERT_EQ(bytes_of(chunk->arrays[slot]), expected[slot]) << seed;
  }
}

// Whatever the bytes are, the result is an error, or arrays of the sizes that counting gave.
TEST(ReadProgramProperty, DamagedEntriesAreErrorsOrConsistent) {
  unsigned refused = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    const auto type = random_type(random, 0);
    ProgramMaker maker;
    const Op op = compile(*type, maker);
    const Program program =
        maker.make(type->kind == Type::Kind::counted ? std::vector<Op>{type->counter, op} : std::vector<Op>{op});
    Writer writer(random, program);
    writer.write(*type);
    std::vector<std::byte>& bytes = writer.image.all();
    for (unsigned changes = 1 + random.below(3); changes > 0; --changes)
      bytes[random.below(static_cast<unsigned>(bytes.size()))] = static_cast<std::byte>(random.below(256));
    if (random.below(2) == 0) bytes.resize(random.below(static_cast<unsigned>(bytes.size())));
    writer.image.end_entry();
    std::vector<std::int64_t> items;
    const auto counted = run_program(program, writer.image.with_offsets(), {}, &items);
    const std::vector<std::int64_t> first(program.slots.size(), 0);
    const auto chunk = run_program(program, writer.image.with_offsets(), first, nullptr);
    ASSERT_EQ(bool{counted}, bool{chunk}) << seed;
    refused += !chunk;
    if (!chunk) continue;
    for (std::size_t slot = 0; slot < items.size(); ++slot) items[slot] += program.slots[slot].kind == Slot::Kind::ends;
    ASSERT_EQ(test::array_items(program, *chunk, items), items) << seed;
  }
  EXPECT_GT(refused, 300u);
}

}  // namespace
}  // namespace tfile
