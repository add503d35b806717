// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "must.h"
#include "tfile/writer.h"

// A table being written that has one column, x.i4, whose entry i is i.
struct TableOfX {
  tfile::TableWriter* writer = nullptr;
  std::int64_t entries = 0;

  static TableOfX create(tfile::FileWriter& file, const std::string& path, std::string title,
                         tfile::TableFormat format = tfile::TableFormat::tree) {
    const auto [directory, name] = split(path);
    tfile::TableWriter* writer = must(file.create_table(directory, name, std::move(title), format));
    const std::vector<tfile::InputColumn> columns{must(tfile::offered_column("x.i4"))};
    must(writer->add_fields(columns, must(tfile::offered_form(columns, format))));
    return {writer, 0};
  }

  static TableOfX open(tfile::FileWriter& file, const std::string& path) {
    const auto [directory, name] = split(path);
    tfile::TableWriter* writer = must(file.open_table(directory, name, tfile::FileWriter::OldCycle::replaced));
    return {writer, writer->committed_entries()};
  }

  // `write` gets a place in the file and bytes, and writes them there.
  template <class Write>
  void append(tfile::FileWriter& file, std::int64_t count, Write write) {
    const tfile::EntryRange range{entries, entries + count};
    std::vector<std::byte> bytes;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      for (int byte = 0; byte < 4; ++byte) bytes.push_back(std::byte(static_cast<std::uint32_t>(i) >> (8 * byte)));
    }
    const std::span<const std::byte> columns[] = {bytes};
    tfile::Part part = must(writer->encode(0, {range, columns, std::array<std::int64_t, 1>{}}));
    const std::uint64_t address = file.place(part.stored.size());
    writer->add_part(0, part, address);
    write(address, part.stored.span());
    writer->end_cluster(range.end, 0);
    entries = range.end;
  }

  // The directory of a path, and the name in it.
  static std::pair<std::string, std::string> split(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {"", path};
    return {path.substr(0, slash), path.substr(slash + 1)};
  }
};
