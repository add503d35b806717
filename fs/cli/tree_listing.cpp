// SPDX-License-Identifier: Apache-2.0
#include "cli/tree_listing.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "bytes_text.h"
#include "cli/colour.h"
#include "cli/source_names.h"
#include "printable.h"
#include "waited.h"

namespace tfilefs {
namespace {

// Characters of UTF-8, as many as a terminal shows.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string size_text(std::string_view digits) {
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), bytes);
  return error == std::errc() && end == digits.end() ? bytes_text(static_cast<double>(bytes)) : "";
}

Result<Xattrs> read_xattrs(FileSystem& fs, InodeId id) {
  return waited<Xattrs>([&](auto reply) { fs.all_xattrs(id, std::move(reply)); });
}

}  // namespace

const std::string& ListedThing::xattr(std::string_view name_behind_prefix) const {
  constexpr std::string_view kPrefix = "user.tfilefs.";
  static const std::string none;
  for (const auto& [key, value] : xattrs)
    if (key.starts_with(kPrefix) && std::string_view(key).substr(kPrefix.size()) == name_behind_prefix) return value;
  return none;
}

bool ListedThing::is_directory() const { return S_ISDIR(found.attributes.mode); }

bool ListedThing::is_key_directory() const { return is_directory() && xattr("class").starts_with("TDirectory"); }

ListedThing thing_at(FileSystem& fs, std::string name, const FileSystem::Found& found) {
  auto xattrs = read_xattrs(fs, found.id);
  return {std::move(name), found, xattrs ? *std::move(xattrs) : Xattrs()};
}

Result<std::vector<ListedThing>> things_in(FileSystem& fs, InodeId directory, bool with_xattrs,
                                           const std::function<void(const std::string&, const Error&)>& failed) {
  TRY(const auto names, names_in(fs, directory));
  std::vector<ListedThing> things;
  for (const ListedName& each : names) {
    const auto found =
        waited<FileSystem::Found>([&](auto reply) { fs.lookup(directory, each.name, std::move(reply)); });
    if (!found) {
      failed(each.name, found.error());
      continue;
    }
    auto xattrs = with_xattrs ? read_xattrs(fs, found->id) : Xattrs();
    if (!xattrs) failed(each.name, xattrs.error());
    things.push_back({each.name, *found, xattrs ? *std::move(xattrs) : Xattrs()});
  }
  return things;
}

TreeRow row_of(const ListedThing& thing, std::size_t depth) {
  TreeRow row{.depth = depth, .name = printable(thing.name), .is_directory = thing.is_directory()};
  row.what = printable(thing.xattr("type").empty() ? thing.xattr("class") : thing.xattr("type"));
  if (thing.is_directory() && (row.what.empty() || thing.is_key_directory())) row.name += '/';
  if (!thing.xattr("entries").empty()) row.entries = thing.xattr("entries") + " entries";
  row.size = size_text(thing.xattr("stored"));
  if (row.size.empty() && S_ISREG(thing.found.attributes.mode))
    row.size = bytes_text(static_cast<double>(thing.found.attributes.size));
  const std::string& reason = thing.xattr("reason");
  row.title = printable(reason.empty() ? thing.xattr("title") : reason);
  return row;
}

std::string tree_text(const std::vector<TreeRow>& rows, bool has_colours) {
  using Cells = std::array<std::string, 5>;
  constexpr std::size_t kIndent = 2;
  constexpr std::array kIsNumber{false, false, true, true, false};
  const auto cells_of = [](const TreeRow& row) {
    return Cells{std::string(row.depth * kIndent, ' ') + row.name, row.what, row.entries, row.size, row.title};
  };
  std::array<std::size_t, std::tuple_size_v<Cells>> widths{};
  for (const TreeRow& row : rows)
    for (std::size_t i = 0; const std::string& cell : cells_of(row)) {
      widths[i] = std::max(widths[i], width_of(cell));
      ++i;
    }
  std::string text;
  for (const TreeRow& row : rows) {
    const Cells cells = cells_of(row);
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] == 0) continue;  // nothing has it
      const std::string rest(widths[i] - width_of(cells[i]), ' ');
      line += (i == 0 ? "" : "  ") + (kIsNumber[i] ? rest + cells[i] : cells[i] + rest);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    if (has_colours && row.is_directory)
      line.replace(row.depth * kIndent, row.name.size(), coloured(row.name, Colour::blue));
    text += line + "\n";
  }
  return text;
}

}  // namespace tfilefs
