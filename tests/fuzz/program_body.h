// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bytes/cursor.h"
#include "fuzz/stream_body.h"
#include "streamer/layout/class_headers.h"
#include "streamer/layout/class_layout.h"

namespace tfile::fuzz {

// Limits for one input.
inline constexpr std::size_t kClassesMax = 6;
inline constexpr std::size_t kEntriesMax = 8;

// The chunk of a program must be consistent with the program.
inline void check_chunk(const Program& program, const Chunk& chunk, const std::vector<std::int64_t>& items) {
  require(chunk.arrays.size() == program.slots.size() && items.size() == program.slots.size(),
          "an array for each slot");
  for (std::size_t slot = 0; slot < items.size(); ++slot) {
    const Slot& known = program.slots[slot];
    if (known.kind == Slot::Kind::hidden || known.is_unseen) continue;
    const std::int64_t leading = known.kind == Slot::Kind::ends;
    require(chunk.arrays[slot].size() == static_cast<std::size_t>(items[slot] + leading) * known.item_size,
            "an array has the size of its items");
  }
  for (std::size_t slot = 1; slot < items.size(); ++slot) {
    if (program.slots[slot].kind != Slot::Kind::index) continue;
    const auto tags = chunk.arrays[slot - 1];
    for (std::size_t i = 0; i < tags.size(); ++i) {
      std::int64_t at;
      std::memcpy(&at, chunk.arrays[slot].data() + i * sizeof at, sizeof at);
      const auto tag = static_cast<std::size_t>(tags[i]);
      require(at >= 0 && (tag == 0 ? at == 0 : at < items[slot + tag]), "an index leads to an item");
    }
  }
}

inline void run_over(const Program& program, const Entries& entries) {
  find_classes(program, entries);
  std::vector<std::int64_t> items;
  const auto counted = run_program(program, entries, {}, &items);
  const std::vector<std::int64_t> first(program.slots.size(), 0);
  const auto chunk = run_program(program, entries, first, nullptr);
  require(bool(counted) == bool(chunk), "counting and decoding agree");
  if (chunk) check_chunk(program, *chunk, items);
}

// Reads the entries as one type, twice: the classes found in them may change the program.
inline void try_type(const StreamerInfos& infos, const TypeName& type, const Entries& entries, LayoutGuess guess) {
  FoundClasses found;
  for (int look = 0; look < 2; ++look) {
    LayoutCompiler compiler(infos, look ? &found : nullptr, guess);
    if (!compiler.value(type, ValueIn::member)) return;
    const Program program = compiler.finish();
    run_over(program, entries);
    if (look == 0) found = find_classes(program, entries);
    if (found.empty()) return;
  }
}

// Input: a StreamerInfo record (preceded by its size, 4 bytes), then entries, cut into equal parts. The programs
// compiled from the record run over the entries.
inline void program_body(std::span<const std::byte> bytes) {
  Cursor in(bytes);
  const auto size = in.big<std::uint32_t>("size of the StreamerInfo");
  const auto record = in.take(size, "StreamerInfo");
  const std::size_t count = in.u1("entries") % kEntriesMax + 1;
  const auto data = in.take(in.left(), "entries");
  if (in.failed() || data.size() > 64 * 1024) return;
  std::vector<std::int32_t> offsets;
  for (std::size_t i = 0; i <= count; ++i) offsets.push_back(static_cast<std::int32_t>(data.size() * i / count));
  const Entries entries{data, offsets, static_cast<std::int64_t>(count)};
  std::vector<std::string> warnings;
  const StreamerInfos infos = StreamerInfos::read(record, 0, warnings);
  class_headers(infos);
  for (std::size_t i = 0; i < infos.from_file().size() && i < kClassesMax; ++i) {
    const std::string& name = infos.from_file()[i]->class_name;
    for (const std::string& text : {name, "vector<" + name + ">", "vector<" + name + "*>", "map<int," + name + ">"}) {
      for (const LayoutGuess guess : {LayoutGuess{}, LayoutGuess{.is_bare = true}, LayoutGuess{.has_enums = true}})
        try_type(infos, parse_type_name(text), entries, guess);
    }
  }
  try_type(infos, parse_type_name("TObjArray"), entries, {});
  try_type(infos, parse_type_name("TClonesArray"), entries, {});
}

}  // namespace tfile::fuzz
