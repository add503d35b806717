// SPDX-License-Identifier: Apache-2.0
#include "repack/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "path_name.h"
#include "staging/journal/journal.h"

namespace tfilefs {
namespace {

// A piece of a record that is copied as it is.
constexpr std::uint64_t kPieceSize = 4 << 20;

// Nobody else writes the file, or has left something to be brought into it.
Result<> check_no_writer(const FilePlace& place) {
  auto none = Journal::check_none(place.directory.get(), journal_name(place.name));
  if (none) return none;
  if (none.error().kind != ErrorKind::exists)
    return tfile::fail(none.error().kind, place.shown + ": " + none.error().text);
  return tfile::fail(ErrorKind::exists,
                     place.shown + ": there is an abandoned journal next to it: commit it with `tfilefs recover`");
}

// A file that this user cannot write, or lock, is replaced nevertheless: only its directory has to be writable.
Result<std::optional<FileClaim>> claim_replaced(const FilePlace& place) {
  auto claim = FileClaim::take(place);
  if (claim) return std::optional(*std::move(claim));
  if (claim.error().kind == ErrorKind::busy)
    return tfile::fail(ErrorKind::busy, place.shown + ": " + claim.error().text);
  return std::nullopt;
}

}  // namespace

std::optional<FileState> state_at(int directory, const std::string& name) {
  struct stat status {};
  if (::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return FileState{{status.st_dev, status.st_ino}, status.st_mtim};
}

Result<FilePlace> place_of_output(const std::string& path) {
  const std::string name = name_in_path(path);
  if (name.empty() || name == "." || name == "..") return tfile::fail(ErrorKind::invalid, path + ": not a file name");
  return place_of(path);
}

Result<std::optional<FileClaim>> claim_former(const FilePlace& place) {
  struct stat status {};
  const bool is_there = ::fstatat(place.directory.get(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there && !S_ISREG(status.st_mode))
    return tfile::fail(ErrorKind::invalid, place.shown + ": not a regular file");
  TRY_VOID(check_no_writer(place));
  if (!is_there) return std::nullopt;
  return claim_replaced(place);
}

Result<std::unique_ptr<OutputFile>> OutputFile::make(const std::string& path, bool replaces,
                                                     const std::optional<FileState>& former) {
  TRY(FilePlace place, place_of_output(path));
  const auto owner = place.owner();
  if (former && owner && !replaces)
    return tfile::fail(ErrorKind::exists, path + ": already exists; --force replaces it");
  auto replaced = claim_former(place);
  if (!replaced) return tl::unexpected(std::move(replaced).error());
  TRY(NewFile file, NewFile::make(place, owner.value_or(process_owner())));
  // From here on the new file knows what it replaces.
  if (state_at(place.directory.get(), place.name) != former)
    return tfile::fail(ErrorKind::stale, path + ": another program has created or replaced this file in the meantime");
  return std::unique_ptr<OutputFile>(new OutputFile(std::move(place), *std::move(replaced), std::move(file)));
}

Result<> OutputFile::copy(const tfile::Source& source, tfile::ByteRange from, std::uint64_t to) {
  for (std::uint64_t done = 0; done < from.size;) {
    tfile::Buffer piece(std::min(kPieceSize, from.size - done), tfile::Use::passing);
    TRY_VOID(tfile::read_range(source, {from.begin + done, piece.size()}, piece.span()));
    const std::uint64_t size = piece.size();
    TRY_VOID(writes_.write(to + done, std::move(piece)));
    done += size;
  }
  return {};
}

Result<> OutputFile::complete(const tfile::CommitPlan& plan) {
  TRY_VOID(writes_.flush());
  for (const tfile::CommitStep& step : plan.steps) {
    if (step.kind == tfile::CommitStep::Kind::write) TRY_VOID(write_all(file_.get(), step.offset, step.bytes));
  }
  return {};
}

}  // namespace tfilefs
