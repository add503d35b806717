// SPDX-License-Identifier: Apache-2.0
#include "vfs/keys/key_list.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>

#include "tfile/json_writer.h"
#include "vfs/names/key_names.h"

namespace tfilefs {
namespace {

// A page can show no more; some 20 MB of text.
constexpr std::size_t kListedMax = 200'000, kListedDirectoriesMax = 20'000, kListedDeepMax = 100;
constexpr std::uint64_t kListedBytesMax = 32 << 20;

std::string_view kind_name(tfile::KeyKind kind) {
  return kind == tfile::KeyKind::directory ? "directory" : kind == tfile::KeyKind::table ? "table" : "object";
}

using Ancestors = std::shared_ptr<const std::vector<std::uint64_t>>;

// A directory whose keys are not listed yet.
struct Waiting {
  std::string path;
  std::shared_ptr<const tfile::DirectoryListing> above;
  tfile::KeyInfo key;  // in `above`
  Ancestors ancestors;
};

Ancestors with(const std::vector<std::uint64_t>& ancestors, std::uint64_t seek) {
  auto all = std::make_shared<std::vector<std::uint64_t>>(ancestors);
  all->push_back(seek);
  return all;
}

// Of all paths, which may be long if the directory is deep.
std::uint64_t bytes_of(const tfile::DirectoryListing& listing, const KeyNames& names, const std::string& path) {
  std::uint64_t bytes = 0;
  for (const std::uint32_t i : names.newest)
    bytes += path.size() + 1 + names.shown[i].size() + listing.keys[i].class_name.size();
  return bytes;
}

class KeyList {
 public:
  explicit KeyList(const tfile::File& file) : file_(file) {
    json_.begin_object().member("tfilefs", 1).line(1).key("keys").begin_array();
  }

  // The upper levels first, so that what is left out is deep.
  Result<> walk(const tfile::DirectoryListing& listing, const std::vector<std::uint64_t>& ancestors,
                const std::stop_token& stop) {
    add(listing, nullptr, "", with(ancestors, listing.seek));
    for (; !waiting_.empty() && !is_full_; waiting_.pop_front()) {
      if (stop.stop_requested()) return cancelled();
      enter(waiting_.front());
    }
    return {};
  }
  std::string take() { return json_.end_array().line(1).key("all").flag(!is_full_).line().end_object().take() + "\n"; }

 private:
  // All keys of a directory, or none.
  void add(const tfile::DirectoryListing& listing, const std::shared_ptr<const tfile::DirectoryListing>& kept,
           const std::string& path, const Ancestors& above) {
    const KeyNames names = names_of_keys(listing.keys);
    listed_ += names.newest.size();
    bytes_ += bytes_of(listing, names, path);
    if (listed_ > kListedMax || bytes_ > kListedBytesMax) return void(is_full_ = true);
    for (const std::uint32_t i : names.newest) {
      const tfile::KeyInfo& key = listing.keys[i];
      const std::string shown = path.empty() ? names.shown[i] : path + "/" + names.shown[i];
      json_.line(2).begin_object().member("path", shown).member("kind", kind_name(key.kind));
      json_.member("class", key.class_name).end_object();
      if (key.kind == tfile::KeyKind::directory) waiting_.push_back({shown, kept, key, above});
    }
  }

  // A directory that cannot be read, or that contains itself, has no keys here; the error is seen when it is entered.
  void enter(const Waiting& next) {
    if (++directories_ > kListedDirectoriesMax || next.ancestors->size() > kListedDeepMax) return void(is_full_ = true);
    const auto inner = file_.directory(next.key);
    if (!inner || std::ranges::find(*next.ancestors, (*inner)->seek) != next.ancestors->end()) return;
    add(**inner, *inner, next.path, with(*next.ancestors, (*inner)->seek));
  }

  const tfile::File& file_;
  tfile::JsonWriter json_;
  std::deque<Waiting> waiting_;
  std::size_t listed_ = 0, directories_ = 0;
  std::uint64_t bytes_ = 0;
  bool is_full_ = false;
};

}  // namespace

Result<std::string> key_list(const tfile::File& file, const tfile::DirectoryListing& listing,
                             const std::vector<std::uint64_t>& ancestors, const std::stop_token& stop) {
  KeyList list(file);
  TRY_VOID(list.walk(listing, ancestors, stop));
  return list.take();
}

}  // namespace tfilefs
