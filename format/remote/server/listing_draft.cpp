// SPDX-License-Identifier: Apache-2.0
#include "remote/server/listing_draft.h"

#include <algorithm>
#include <climits>
#include <utility>

namespace tfile {
namespace {

// The reason why a name is not one of a file; empty if there is none.
std::string_view oddity_of(std::string_view name) {
  if (name.empty()) return "an empty name";
  if (name == "." || name == "..") return "a name that refers to another directory";
  if (name.find('/') != std::string_view::npos) return "a name with a slash";
  if (name.find('\0') != std::string_view::npos) return "a name with a zero byte";
  if (name.size() > NAME_MAX) return "a name of more than 255 bytes";
  return {};
}

}  // namespace

Result<> ListingDraft::add(RemoteEntry entry) {
  if (const std::string_view oddity = oddity_of(entry.name); !oddity.empty()) {
    leave_out(entry.name, oddity);
    return {};
  }
  if (listing_.entries.size() == kEntriesMax)
    return fail(ErrorKind::unsupported, "directory with more than " + std::to_string(kEntriesMax) + " names");
  listing_.entries.push_back(std::move(entry));
  return {};
}

void ListingDraft::leave_out(std::string_view name, std::string_view reason) {
  if (++left_out_ > kLinesMax) return;
  std::string line = "\"" + std::string(name.substr(0, NAME_MAX)) + "\" is left out: ";
  listing_.left_out.push_back(line.append(reason));
}

RemoteListing ListingDraft::finish() && {
  std::vector<RemoteEntry>& entries = listing_.entries;
  std::ranges::stable_sort(entries, {}, &RemoteEntry::name);
  const auto is_same = [](const RemoteEntry& a, const RemoteEntry& b) { return a.name == b.name; };
  for (std::size_t i = 1; twice_ == Twice::error && i < entries.size(); ++i)
    if (is_same(entries[i - 1], entries[i])) leave_out(entries[i].name, "it is listed twice");
  entries.erase(std::unique(entries.begin(), entries.end(), is_same), entries.end());
  if (left_out_ > kLinesMax)
    listing_.left_out.push_back(std::to_string(left_out_ - kLinesMax) + " more names are left out");
  return std::move(listing_);
}

}  // namespace tfile
