// SPDX-License-Identifier: Apache-2.0
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/each_source.h"
#include "cli/options.h"
#include "cli/source_names.h"
#include "printable.h"
#include "vfs/names/path_pattern.h"
#include "waited.h"

namespace tfilefs {
namespace {

struct Wanted {
  bool details = false, recursive = false, json = false;
};

struct Item {
  std::string name;
  FileSystem::Found found;
};

class Lister {
 public:
  // `json`: where what is found is added, if that is wanted.
  Lister(FileSystem& fs, const OneSource& source, const Wanted& wanted, nlohmann::ordered_json& json)
      : fs_(fs), source_(source), wanted_(wanted), json_(json) {}

  // Shows the file or directory `at`, whose path is `path`; false after an error, which was reported.
  bool show(const FileSystem::Found& at, const std::string& path);

 private:
  bool show_directory(InodeId, const std::string& path, bool titled);
  bool items_of(InodeId, const std::string& path, std::vector<Item>& into);
  void print(const std::vector<Item>&, const std::string& path);
  std::string detail_of(const Attributes&);
  std::string user_name(uid_t);
  std::string group_name(gid_t);
  bool complain_about(const std::string& path, const Error&);

  FileSystem& fs_;
  const OneSource& source_;
  const Wanted wanted_;
  bool printed_ = false;
  nlohmann::ordered_json& json_;
  std::map<uid_t, std::string> users_;
  std::map<gid_t, std::string> groups_;
};

bool Lister::complain_about(const std::string& path, const Error& error) {
  complain({error.kind, (path.empty() ? "/" : path) + ": " + error.text, error.offset, 0});
  return false;
}

bool Lister::items_of(InodeId id, const std::string& path, std::vector<Item>& into) {
  const auto names = names_in(fs_, id);
  if (!names) return complain_about(path, names.error());
  bool good = true;
  for (const ListedName& each : *names) {
    const auto found = waited<FileSystem::Found>([&](auto reply) { fs_.lookup(id, each.name, std::move(reply)); });
    if (found) {
      into.push_back({each.name, *found});
    } else {
      good = complain_about(path + "/" + each.name, found.error());
    }
  }
  return good;
}

bool Lister::show_directory(InodeId id, const std::string& path, bool titled) {
  std::vector<Item> items;
  bool good = items_of(id, path, items);
  if (titled && !wanted_.json)
    std::printf("%s%s:\n", printed_ ? "\n" : "", printable(path.empty() ? "." : path).c_str());
  printed_ = true;
  print(items, path);
  for (const Item& item : items) {
    if (!wanted_.recursive || !S_ISDIR(item.found.attributes.mode)) continue;
    good &= show_directory(item.found.id, path.empty() ? item.name : path + "/" + item.name, true);
  }
  for (const Item& item : items) fs_.forget(item.found.id, 1);
  return good;
}

bool Lister::show(const FileSystem::Found& at, const std::string& path) {
  if (S_ISDIR(at.attributes.mode)) return show_directory(at.id, path, wanted_.recursive);
  const std::size_t slash = path.rfind('/');
  print({{slash == std::string::npos ? path : path.substr(slash + 1), at}},
        slash == std::string::npos ? "" : path.substr(0, slash));
  return true;
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
void Lister::print(const std::vector<Item>& items, const std::string& path) {
  for (const auto& [name, found] : items) {
    const Attributes& a = found.attributes;
    if (!wanted_.json) {
      std::printf("%s%s\n", wanted_.details ? detail_of(a).c_str() : "", printable(name).c_str());
      continue;
    }
    json_.push_back({{"path", path.empty() ? name : path + "/" + name},
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
    if (source_.is_of_several) json_.back()["source"] = source_.shown;
  }
}

// What of the arguments all sources share.
struct ListRequest {
  std::string path;  // in the source
  MountOptions options;
  Wanted wanted;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
};

// False if some of it cannot be listed, which was reported.
Result<bool> list(const OneSource& source, ListRequest& request) {
  TRY(const auto fs, FileSystem::open(source.name, request.options.file_system));
  auto at = fs->find_path(request.path);
  if (!at) {
    at.error().text = source.shown + (request.path.empty() ? "" : "/" + request.path) + ": " + at.error().text;
    return tl::unexpected(at.error());
  }
  if (!request.wanted.json) print_title(source);
  Lister lister(*fs, source, request.wanted, request.json);
  std::string shown = request.path;
  while (!shown.empty() && shown.back() == '/') shown.pop_back();
  return lister.show(*at, shown);
}

}  // namespace

int run_ls(int argc, char** argv) {
  CommandLine command("ls");
  Wanted wanted;
  std::string source;
  std::vector<std::string> option_lists;
  command.take("-l", wanted.details);
  command.take("-R", wanted.recursive);
  command.take("--json", wanted.json);
  command.take("-o", option_lists);
  command.take("SOURCE[/PATH]", source);
  if (const auto code = command.parse(argc, argv)) return *code;
  const auto options = options_or_complaint(option_lists);
  if (!options) return kExitUsage;
  const auto [name, path] = split_source(source);
  ListRequest request{path, *options, wanted};
  const int code = for_each_source(name, options->file_system.remote, kExitFailure, [&](const OneSource& one) {
    const auto good = list(one, request);
    if (!good) return complain(good.error());
    return *good ? kExitOk : kExitFailure;
  });
  if (wanted.json && (code == kExitOk || !request.json.empty()))
    std::printf("%s\n", request.json.dump(1, ' ', true, nlohmann::json::error_handler_t::replace).c_str());
  return code;
}

}  // namespace tfilefs
