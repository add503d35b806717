// SPDX-License-Identifier: Apache-2.0
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "cli/colour.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/each_source.h"
#include "cli/json_output.h"
#include "cli/nearest_name.h"
#include "cli/options.h"
#include "cli/source_names.h"
#include "cli/tree_listing.h"
#include "printable.h"

namespace tfilefs {
namespace {

struct Wanted {
  bool names = false, details = false, recursive = false, json = false;
  bool tree() const { return !names && !details && !json; }
};

class Lister {
 public:
  // `json`: where what is found is added, if that is wanted.
  Lister(FileSystem& fs, const OneSource& source, const Wanted& wanted, nlohmann::ordered_json& json)
      : fs_(fs), source_(source), wanted_(wanted), json_(json) {}

  // Shows the file or directory `at`, whose path is `path`; false after an error, which was reported.
  bool show(const FileSystem::Found& at, const std::string& path);

 private:
  bool show_directory(InodeId, const std::string& path, std::size_t depth);
  bool show_things(const std::vector<ListedThing>&, const std::string& path, std::size_t depth);
  void print(const ListedThing&, const std::string& path);
  void add_json(const ListedThing&, const std::string& path);
  std::string detail_of(const Attributes&);
  std::string user_name(uid_t);
  std::string group_name(gid_t);
  bool complain_about(const std::string& path, const Error&);
  bool goes_into(const ListedThing& thing) const {
    return thing.is_directory() && (wanted_.recursive || (wanted_.tree() && thing.is_key_directory()));
  }

  FileSystem& fs_;
  const OneSource& source_;
  const Wanted wanted_;
  bool printed_ = false;
  std::vector<TreeRow> rows_;
  nlohmann::ordered_json& json_;
  std::map<uid_t, std::string> users_;
  std::map<gid_t, std::string> groups_;
};

bool Lister::complain_about(const std::string& path, const Error& error) {
  complain({error.kind, (path.empty() ? "/" : path) + ": " + error.text, error.offset, 0});
  return false;
}

std::string listed_path(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

bool Lister::show_directory(InodeId id, const std::string& path, std::size_t depth) {
  bool good = true;
  const auto things =
      things_in(fs_, id, wanted_.tree() || wanted_.json,
                [&](const std::string& name, const Error& error) { good = complain_about(path + "/" + name, error); });
  if (!things) return complain_about(path, things.error());
  if (wanted_.recursive && !wanted_.tree() && !wanted_.json)
    std::printf("%s%s:\n", printed_ ? "\n" : "", printable(path.empty() ? "." : path).c_str());
  printed_ = true;
  good &= show_things(*things, path, depth);
  for (const ListedThing& thing : *things) fs_.forget(thing.found.id, 1);
  return good;
}

// In a tree, what is below something follows it; else all names of a directory come first.
bool Lister::show_things(const std::vector<ListedThing>& things, const std::string& path, std::size_t depth) {
  bool good = true;
  const auto enter = [&](const ListedThing& thing) {
    if (goes_into(thing)) good &= show_directory(thing.found.id, listed_path(path, thing.name), depth + 1);
  };
  for (const ListedThing& thing : things) {
    if (!wanted_.tree()) {
      print(thing, path);
      continue;
    }
    rows_.push_back(row_of(thing, depth));
    enter(thing);
  }
  if (!wanted_.tree()) std::ranges::for_each(things, enter);
  return good;
}

bool Lister::show(const FileSystem::Found& at, const std::string& path) {
  bool good = true;
  if (S_ISDIR(at.attributes.mode)) {
    good = show_directory(at.id, path, 0);
  } else {
    const std::size_t slash = path.rfind('/');
    const ListedThing thing = thing_at(fs_, slash == std::string::npos ? path : path.substr(slash + 1), at);
    const std::string above = slash == std::string::npos ? "" : path.substr(0, slash);
    good = show_things({thing}, above, 0);
  }
  std::fputs(tree_text(rows_, has_colours()).c_str(), stdout);
  return good;
}

std::string Lister::user_name(uid_t uid) {
  auto [at, made] = users_.try_emplace(uid);
  if (made) {
    const passwd* user = ::getpwuid(uid);
    at->second = user ? user->pw_name : std::to_string(uid);
  }
  return at->second;
}

std::string Lister::group_name(gid_t gid) {
  auto [at, made] = groups_.try_emplace(gid);
  if (made) {
    const group* found = ::getgrgid(gid);
    at->second = found ? found->gr_name : std::to_string(gid);
  }
  return at->second;
}

std::string mode_text(mode_t mode) {
  std::string text = S_ISDIR(mode) ? "d" : S_ISLNK(mode) ? "l" : S_ISREG(mode) ? "-" : "?";
  for (int shift = 8; shift >= 0; --shift) text += (mode >> shift) & 1 ? "rwx"[(8 - shift) % 3] : '-';
  return text;
}

std::string time_text(const timespec& time) {
  std::tm fields{};
  ::localtime_r(&time.tv_sec, &fields);
  std::array<char, 32> text;
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &fields);
  return text.data();
}

std::string Lister::detail_of(const Attributes& a) {
  std::array<char, 256> line;
  std::snprintf(line.data(), line.size(), "%s %2llu %-8s %-8s %12llu %s ", mode_text(a.mode).c_str(),
                static_cast<unsigned long long>(a.links), user_name(a.uid).c_str(), group_name(a.gid).c_str(),
                static_cast<unsigned long long>(a.size), time_text(a.modified).c_str());
  return line.data();
}

// Names that are not UTF-8 are shown with replacement characters; the mount has them unchanged.
void Lister::print(const ListedThing& thing, const std::string& path) {
  if (wanted_.json) return add_json(thing, path);
  const std::string details = wanted_.details ? detail_of(thing.found.attributes) : "";
  std::printf("%s%s\n", details.c_str(), printable(thing.name).c_str());
}

// Adds the extended attributes, numbers as numbers.
void add_attributes(const ListedThing& thing, nlohmann::ordered_json& to) {
  if (const std::string& type = thing.xattr("type"); !type.empty()) to["holds"] = type;
  for (const char* const name : {"class", "title", "dtype", "compression", "reason"})
    if (const std::string& value = thing.xattr(name); !value.empty()) to[name] = value;
  for (const char* const name : {"cycle", "entries", "length", "shape", "stored"})
    if (auto value = nlohmann::ordered_json::parse(thing.xattr(name), nullptr, false); !value.is_discarded())
      to[name] = std::move(value);
}

void Lister::add_json(const ListedThing& thing, const std::string& path) {
  const Attributes& a = thing.found.attributes;
  nlohmann::ordered_json& item = json_.emplace_back(nlohmann::ordered_json{{"path", listed_path(path, thing.name)},
                                                                           {"type", S_ISDIR(a.mode)   ? "directory"
                                                                                    : S_ISLNK(a.mode) ? "link"
                                                                                    : S_ISREG(a.mode) ? "file"
                                                                                                      : "other"},
                                                                           {"size", a.size},
                                                                           {"stored", a.blocks * 512},
                                                                           {"mode", a.mode & 07777},
                                                                           {"uid", a.uid},
                                                                           {"gid", a.gid},
                                                                           {"mtime", a.modified.tv_sec},
                                                                           {"inode", a.number}});
  if (source_.is_of_several) item["source"] = source_.shown;
  add_attributes(thing, item);
}

// The request that all sources share.
struct ListRequest {
  MountOptions options;
  Wanted wanted;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
};

// False if some of it cannot be listed, which was reported.
Result<bool> list(const OneSource& source, const std::string& path, ListRequest& request) {
  TRY(const auto fs, FileSystem::open(source.name, request.options.file_system));
  auto at = fs->find_path(path);
  if (!at) {
    at.error().text = source.shown + (path.empty() ? "" : "/" + path) + ": " + at.error().text;
    if (at.error().kind == ErrorKind::not_found) at.error().text += like_name_of(*fs, path);
    return tl::unexpected(at.error());
  }
  if (!request.wanted.json) print_title(source);
  Lister lister(*fs, source, request.wanted, request.json);
  std::string shown = path;
  while (!shown.empty() && shown.back() == '/') shown.pop_back();
  return lister.show(*at, shown);
}

}  // namespace

int run_ls(int argc, char** argv) {
  CommandLine command("ls");
  Wanted wanted;
  std::vector<std::string> sources, option_lists;
  command.take("-1", wanted.names);
  command.take("-l", wanted.details);
  command.take("-R", wanted.recursive);
  command.take("--json", wanted.json);
  command.take("-o", option_lists);
  command.take("SOURCE[/PATH]...", sources);
  if (const auto code = command.parse(argc, argv)) return *code;
  const auto options = options_or_complaint(option_lists);
  if (!options) return kExitUsage;
  ListRequest request{*options, wanted};
  int code = kExitOk;
  for (const std::string& source : sources) {
    const SourcePath at = split_source(source);
    const SourceWords words{{at.source}, sources.size() > 1};
    code |= for_each_source(words, options->file_system.remote, kExitFailure, [&](const OneSource& one) {
      const auto good = list(one, at.inside, request);
      if (!good) return complain(good.error());
      return *good ? kExitOk : kExitFailure;
    });
  }
  if (wanted.json && (code == kExitOk || !request.json.empty())) print_json(request.json);
  return code;
}

}  // namespace tfilefs
