// SPDX-License-Identifier: Apache-2.0
#include "repack/entry_choice.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "array/npy.h"
#include "descriptor.h"
#include "repack/selected_items.h"
#include "staging/journal/file_place.h"

namespace tfilefs {

using tfile::Dtype;
using tfile::EntryRange;
using tfile::fail;

namespace {

constexpr std::string_view kMask = ".b1", kIndex = ".i8", kNumpy = ".npy";

// A mask of more entries than this is read in pieces.
constexpr std::int64_t kPieceEntries = 4 << 20;

std::optional<std::int64_t> number_in(std::string_view text, std::int64_t none) {
  if (text.empty()) return none;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// Collects chosen entries.
class Choice {
 public:
  void add_mask(std::span<const std::byte> values, std::size_t size) {
    for (std::size_t at = 0; at < values.size(); at += size, ++next_) {
      const auto value = values.subspan(at, size);
      const bool chosen = std::ranges::any_of(value, [](std::byte byte) { return byte != std::byte{0}; });
      if (chosen) kept_.add({next_, next_ + 1});
    }
  }
  Result<> add_index(std::span<const std::byte> values) {
    for (std::size_t at = 0; at < values.size(); at += sizeof(std::int64_t)) {
      std::int64_t entry = 0;
      std::memcpy(&entry, values.data() + at, sizeof entry);
      if (entry < next_)
        return fail(ErrorKind::invalid, "entry numbers are not in ascending order: " + std::to_string(entry));
      kept_.add({entry, entry + 1});
      next_ = entry + 1;
    }
    return {};
  }
  ChosenEntries take(bool is_mask) { return {std::move(kept_), is_mask ? next_ : -1}; }

 private:
  std::int64_t next_ = 0;
  tfile::KeptEntries kept_;
};

struct Form {
  bool is_mask = true;
  std::uint64_t begin = 0;
};

Result<Form> form_of(const std::string& file, std::span<const std::byte> start) {
  if (file.ends_with(kMask)) return Form{true, 0};
  if (file.ends_with(kIndex)) return Form{false, 0};
  TRY(const NpyHeader header, parse_npy_header(start));
  if (!header.shape.empty() || (header.dtype != Dtype::b1 && header.dtype != Dtype::i8))
    return fail(ErrorKind::invalid, file + ": expected booleans (b1) or entry numbers (i8)");
  return Form{header.dtype == Dtype::b1, header.size};
}

// Numbers are truth values where each is 0 or 1, as those of flags are. Others, such as numbers of entries, are not.
// `first`: the entry of the first one.
Result<> check_truth(const std::string& name, std::span<const std::byte> values, std::size_t size, std::int64_t first) {
  for (std::size_t at = 0; at < values.size(); at += size) {
    const auto value = values.subspan(at, size);  // little-endian
    const bool is_above = std::ranges::any_of(value.subspan(1), [](std::byte byte) { return byte != std::byte{0}; });
    if (!is_above && value[0] <= std::byte{1}) continue;
    return fail(ErrorKind::invalid, name + ": not booleans: entry " +
                                        std::to_string(first + static_cast<std::int64_t>(at / size)) +
                                        " is neither 0 nor 1");
  }
  return {};
}

}  // namespace

std::optional<EntryRange> parse_entries(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto begin = number_in(text.substr(0, colon), 0);
  const auto end = number_in(text.substr(colon + 1), std::numeric_limits<std::int64_t>::max());
  if (!begin || !end || *end < *begin) return std::nullopt;
  return EntryRange{*begin, *end};
}

bool is_selection_file(const std::string& name) {
  const bool may_be = name.ends_with(kMask) || name.ends_with(kIndex) || name.ends_with(kNumpy);
  struct stat status {};
  return may_be && ::stat(name.c_str(), &status) == 0;
}

Result<ChosenEntries> read_selection(const std::string& file) {
  const Descriptor open(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!open) return tfile::system_error(file, errno);
  TRY(const std::vector<std::byte> start, read_at(open.get(), 0, kNpyHeaderMax));
  TRY(const Form form, form_of(file, start));
  Choice choice;
  const std::size_t size = form.is_mask ? 1 : sizeof(std::int64_t);
  for (std::uint64_t at = form.begin;;) {
    TRY(std::vector<std::byte> piece, read_at(open.get(), at, static_cast<std::size_t>(kPieceEntries) * size));
    if (piece.size() % size != 0)
      return fail(ErrorKind::invalid, file + ": its size is not a multiple of the item size");
    if (piece.empty()) break;
    if (form.is_mask) {
      choice.add_mask(piece, 1);
    } else {
      TRY_VOID(choice.add_index(piece));
    }
    at += piece.size();
  }
  return choice.take(form.is_mask);
}

Result<ChosenEntries> select_by_column(ChainSource& source, const std::string& name) {
  const auto is_meant = [&](const tfile::Column& column) {
    const auto typed = tfile::parse_typed_name(column.path);
    return column.path == name || column.branch == name || (typed && typed->stem == name);
  };
  const tfile::Table& table = source.table();
  const auto found = std::ranges::find_if(table.columns, is_meant);
  if (found == table.columns.end()) return fail(ErrorKind::not_found, name + ": neither a file nor a column");
  if (found->role != tfile::Role::values || !found->lists.empty() || !found->shape.empty())
    return fail(ErrorKind::invalid, name + ": not one value per entry");
  if (found->dtype == Dtype::f4 || found->dtype == Dtype::f8) return fail(ErrorKind::invalid, name + ": not booleans");
  Choice choice;
  for (std::int64_t at = 0; at < table.entries; at += kPieceEntries) {
    TRY(const tfile::Buffer bytes,
        read_items(source.streams(), *found, {at, std::min(at + kPieceEntries, table.entries)}));
    if (found->dtype != Dtype::b1) TRY_VOID(check_truth(name, bytes.span(), tfile::size_of(found->dtype), at));
    choice.add_mask(bytes.span(), tfile::size_of(found->dtype));
  }
  return choice.take(true);
}

}  // namespace tfilefs
