// SPDX-License-Identifier: Apache-2.0
#include "staging/overlay/variants_check.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "staging/overlay/staged_table.h"

namespace tfilefs {

using tfile::fail;

namespace {

constexpr std::uint64_t kIndexSize = sizeof(std::int64_t);
constexpr std::int64_t kVariantsPiece = 8 << 10;  // variants at a time

// The staged variants, those that both files have.
struct Staged {
  std::int64_t begin = 0, end = 0;
};
Staged staged_variants(const StagedColumn& tags, const StagedColumn& index) {
  const auto items = [](const StagedColumn& column, std::uint64_t bytes, std::uint64_t each) {
    return static_cast<std::int64_t>((bytes - std::min(bytes, column.header)) / each);
  };
  return {std::max(items(tags, tags.base, 1), items(index, index.base, kIndexSize)),
          std::min(items(tags, tags.size, 1), items(index, index.size, kIndexSize))};
}

struct Piece {
  std::int64_t begin = 0;
  std::vector<std::byte> tags, index;
  std::size_t size() const { return tags.size(); }
  std::uint8_t tag(std::size_t i) const { return std::to_integer<std::uint8_t>(tags[i]); }
  std::int64_t position(std::size_t i) const {
    std::int64_t value = 0;
    std::memcpy(&value, index.data() + i * kIndexSize, sizeof value);
    return value;
  }
};

Result<> read_bytes(const StagedColumn& column, std::uint64_t at, std::span<std::byte> into) {
  TRY(const std::size_t got, column.bytes->read(at, into));
  return got == into.size() ? Result<>() : fail(ErrorKind::invalid, column.path + ": has become shorter");
}

Result<Piece> read_piece(const StagedColumn& tags, const StagedColumn& index, std::int64_t begin, std::int64_t end) {
  Piece piece;
  piece.begin = begin;
  piece.tags.resize(static_cast<std::size_t>(end - begin));
  piece.index.resize(piece.tags.size() * kIndexSize);
  TRY_VOID(read_bytes(tags, tags.header + static_cast<std::uint64_t>(begin), piece.tags));
  TRY_VOID(read_bytes(index, index.header + static_cast<std::uint64_t>(begin) * kIndexSize, piece.index));
  return piece;
}

void note(std::uint8_t tag, std::int64_t position, std::int64_t item, VariantsSeen& seen) {
  const auto at = std::ranges::find(seen.alternatives, tag, &VariantsSeen::Alternative::tag);
  if (at == seen.alternatives.end()) {
    seen.alternatives.push_back({tag, item, position, position + 1, {}, 0});
    return;
  }
  if (position != at->next && !at->wrong) {
    at->wrong = item;
    at->wanted = at->next;
  }
  at->next = position + 1;
}

}  // namespace

Result<VariantsSeen> look_at_variants(const StagedColumn& tags, const StagedColumn& index, VariantsSeen seen) {
  const Staged staged = staged_variants(tags, index);
  const std::uint64_t end = tags.header + static_cast<std::uint64_t>(std::max<std::int64_t>(0, staged.end));
  if (seen.index_file != index.node->identity || seen.base != tags.base || seen.tags > end) seen = {};
  seen.index_file = index.node->identity;
  seen.base = tags.base;
  std::int64_t at = staged.begin;
  if (seen.tags > tags.header) at = std::max(at, static_cast<std::int64_t>(seen.tags - tags.header));
  for (; at < staged.end; at += kVariantsPiece) {
    TRY(const Piece piece, read_piece(tags, index, at, std::min(at + kVariantsPiece, staged.end)));
    for (std::size_t i = 0; i < piece.size(); ++i) {
      if (piece.tag(i) != 0) note(piece.tag(i), piece.position(i), at + static_cast<std::int64_t>(i), seen);
    }
  }
  const auto looked = static_cast<std::uint64_t>(std::max(staged.begin, staged.end));
  seen.tags = tags.header + looked;
  seen.index = index.header + looked * kIndexSize;
  return seen;
}

std::string wrong_index(const StagedColumn& tags, std::int64_t variant, std::int64_t wanted) {
  const std::string directory = tags.path.substr(0, tags.path.rfind('/') + 1);
  return directory + "index.i8: variant " + std::to_string(variant) +
         " does not refer to the next item of its alternative, number " + std::to_string(wanted);
}

Result<std::int64_t> variants_within(const StagedColumn& tags, const StagedColumn& index, std::uint8_t tag,
                                     std::int64_t items) {
  const Staged staged = staged_variants(tags, index);
  for (std::int64_t at = staged.begin; at < staged.end; at += kVariantsPiece) {
    TRY(const Piece piece, read_piece(tags, index, at, std::min(at + kVariantsPiece, staged.end)));
    for (std::size_t i = 0; i < piece.size(); ++i) {
      if (piece.tag(i) == tag && piece.position(i) >= items) return at + static_cast<std::int64_t>(i);
    }
  }
  return staged.end;
}

Result<std::vector<std::optional<std::int64_t>>> items_of_alternatives(const StagedColumn& tags,
                                                                       const StagedColumn& index, std::int64_t variants,
                                                                       std::size_t alternatives) {
  std::vector<std::optional<std::int64_t>> found(alternatives);
  std::size_t left = alternatives;
  const Staged staged = staged_variants(tags, index);
  for (std::int64_t end = std::min(variants, staged.end); end > staged.begin && left > 0;) {
    TRY(const Piece piece, read_piece(tags, index, std::max(staged.begin, end - kVariantsPiece), end));
    for (std::size_t i = piece.size(); i-- > 0;) {
      const std::size_t tag = piece.tag(i);
      if (tag == 0 || tag > alternatives || found[tag - 1]) continue;
      found[tag - 1] = piece.position(i) + 1;
      --left;
    }
    end = piece.begin;
  }
  return found;
}

}  // namespace tfilefs
