// SPDX-License-Identifier: Apache-2.0
#include "repack/output_set.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace tfilefs {

using tfile::fail;

namespace {

constexpr std::size_t kDigits = 4;  // of the number in a name, or more

// The part of a set's names that stands for "*": the number, and how many digits it has.
struct NumberInName {
  std::uint64_t number = 0;
  std::size_t digits = 0;
};

std::optional<NumberInName> number_in_name(const std::string& out, const std::string& name) {
  const std::filesystem::path path(out);
  const std::string before = path.stem().string() + "-", after = path.extension().string();
  if (name.size() < before.size() + kDigits + after.size()) return std::nullopt;
  if (!name.starts_with(before) || !name.ends_with(after)) return std::nullopt;
  const std::string_view digits(name.data() + before.size(), name.size() - before.size() - after.size());
  NumberInName found{0, digits.size()};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), found.number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return found;
}

}  // namespace

std::string split_name(const std::string& out, std::size_t number, std::size_t files_about) {
  // Four times as many files have names of one length, and 10,000 in any case.
  constexpr std::size_t kMore = 4;
  const std::size_t width = std::max(kDigits, std::to_string(kMore * files_about).size());
  std::string digits = std::to_string(number);
  digits.insert(0, width - std::min(width, digits.size()), '0');
  std::filesystem::path path(out);
  const std::string extension = path.extension();
  return path.replace_filename(path.stem().string() + "-" + digits + extension);
}

Result<OutputSet> OutputSet::make(const std::string& out, bool is_split, bool replaces) {
  OutputSet set(out, is_split, replaces);
  TRY_VOID(set.note_former());
  if (is_split) TRY_VOID(set.check_former());
  return set;
}

Result<> OutputSet::note_former() {
  TRY(const FilePlace place, place_of_output(out_));
  const auto note = [&](const std::string& name) {
    if (const auto state = state_at(place.directory.get(), name)) former_.emplace(name, *state);
  };
  if (!is_split_) {
    note(place.name);
    return {};
  }
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::path(path_of("x")).parent_path();
  std::filesystem::directory_iterator each(directory.empty() ? "." : directory, error);
  for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    const std::string name = each->path().filename();
    if (number_in_name(out_, name)) note(name);
  }
  if (error) return tfile::system_error(directory, error.value());
  return {};
}

// Files of the names of a set are replaced, or removed, only where they are one: numbered from 0 on. A single
// "run-2024.root" is something else, but would be taken for one of "run-*.root".
Result<> OutputSet::check_former() const {
  std::map<std::size_t, std::set<std::uint64_t>> numbers;  // by digits
  for (const auto& [name, state] : former_) {
    if (!replaces_) return fail(ErrorKind::exists, path_of(name) + ": already exists; --force replaces it");
    const NumberInName found = *number_in_name(out_, name);
    numbers[found.digits].insert(found.number);
  }
  for (const auto& [name, state] : former_) {
    const NumberInName found = *number_in_name(out_, name);
    const std::set<std::uint64_t>& set = numbers[found.digits];
    if (*set.rbegin() + 1 == set.size()) continue;
    return fail(ErrorKind::exists,
                path_of(name) +
                    ": would be replaced by one of the new files, but the existing files are not "
                    "numbered from 0, so they are not an earlier set: --force does not replace them");
  }
  return {};
}

std::string OutputSet::path_of(const std::string& name) const {
  return std::filesystem::path(out_).replace_filename(name);
}

std::vector<std::string> OutputSet::former_paths() const {
  std::vector<std::string> paths;
  for (const auto& [name, state] : former_) paths.push_back(path_of(name));
  return paths;
}

Result<std::unique_ptr<OutputFile>> OutputSet::begin(const std::string& path) const {
  const auto known = former_.find(std::filesystem::path(path).filename());
  return OutputFile::make(path, replaces_, known == former_.end() ? std::nullopt : std::optional(known->second));
}

bool OutputSet::is_written(const std::string& name) const {
  return std::ranges::any_of(files_, [&](const auto& file) { return file->place().name == name; });
}

Result<std::vector<OutputSet::Surplus>> OutputSet::surplus() const {
  std::vector<Surplus> found;
  for (const auto& [name, state] : former_) {
    if (is_written(name)) continue;
    TRY(FilePlace place, place_of_output(path_of(name)));
    TRY(std::optional<FileClaim> claim, claim_former(place));
    const auto now = state_at(place.directory.get(), name);
    found.push_back({std::move(claim), LeavingFile(std::move(place))});
    if (now != state)
      return fail(ErrorKind::stale,
                  path_of(name) + ": another program has created or replaced this file in the meantime");
  }
  return found;
}

Result<> OutputSet::publish() {
  if (!is_split_ && files_.size() == 1) return files_.front()->publish();
  if (files_.empty()) return {};
  for (const auto& file : files_) TRY_VOID(file->make_ready());
  TRY(std::vector<Surplus> leaving, surplus());
  TRY_VOID(change_names(leaving));
  for (const auto& file : files_) file->remove_former();
  for (Surplus& each : leaving) each.file.remove();
  return {};
}

// From here on nothing is written but names.
Result<> OutputSet::change_names(std::vector<Surplus>& leaving) {
  const FilePlace& place = files_.front()->place();
  const auto sync = [&]() -> Result<> {
    if (::fsync(place.directory.get()) != 0) return tfile::system_error(place.shown, errno);
    return {};
  };
  TRY_VOID(sync());
  std::size_t files = 0;
  Result<> done;
  for (; done && files < files_.size(); ++files) done = files_[files]->swap_in();
  if (!done) return tl::unexpected(rolled_back(std::move(done).error(), files - 1, leaving));
  for (std::size_t i = 0; done && i < leaving.size(); ++i) done = leaving[i].file.set_aside();
  if (done) done = sync();
  if (!done) return tl::unexpected(rolled_back(std::move(done).error(), files, leaving));
  return {};
}

// Gives the former files their contents again. A failure to undo is told.
Error OutputSet::rolled_back(Error why, std::size_t files, std::vector<Surplus>& leaving) {
  for (Surplus& each : leaving) {
    if (auto done = each.file.put_back(); !done) why.text += "; not undone: " + done.error().text;
  }
  for (; files > 0; --files) {
    OutputFile& file = *files_[files - 1];
    if (auto done = file.swap_back(); !done)
      why.text += "; not undone: " + done.error().text +
                  (file.other_name().empty() ? "" : " (its old content is in " + file.other_name() + ")");
  }
  return why;
}

}  // namespace tfilefs
