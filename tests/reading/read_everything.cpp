// SPDX-License-Identifier: Apache-2.0
// Reads all that a mount of a file would show, without a kernel: what mount/hostile_file.py asks on standard input is a
// JSON object a line, {"path", "memory", "read"}, and so is the answer. Each file is read in a process of its own, with
// the memory limit of such a mount.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "child_program.h"
#include "cli/options.h"
#include "cli/source_names.h"
#include "fuse/errno.h"
#include "vfs/file_system.h"
#include "waited.h"

namespace tfilefs {
namespace {

using nlohmann::json;

constexpr unsigned kHangs = 120;             // seconds without an answer; each normally takes well below one
constexpr std::size_t kPathsMax = 3000;      // of a file
constexpr std::uint64_t kReadMax = 2 << 20;  // from the beginning of each path; a hostile size may claim far more
constexpr std::size_t kPiece = 1 << 20, kPage = 4096;

class Reader {
 public:
  explicit Reader(FileSystem& fs) : fs_(fs) {}

  void read_all() {
    directory("", 0);
    const auto classes = listed(".classes");
    for (std::size_t i = 0; classes && i < std::min<std::size_t>(classes->size(), 20); ++i)
      file(".classes/" + (*classes)[i].name);
  }

  Result<std::string> content(const std::string& path, std::uint64_t begin, std::size_t size) {
    TRY(const auto found, fs_.find_path(path));
    TRY(const auto opened, waited<FileSystem::Opened>([&](auto reply) { fs_.open(found.id, std::move(reply)); }));
    auto bytes = waited<Slices>([&](auto reply) { fs_.read(opened.handle, begin, size, std::move(reply)); });
    std::string all;
    for (std::size_t i = 0; bytes && i < bytes->pieces.size(); ++i)
      all.append(reinterpret_cast<const char*>(bytes->pieces[i].data()), bytes->pieces[i].size());
    fs_.release(opened.handle);
    if (!bytes) return tl::unexpected<Error>(bytes.error());
    return all;
  }

  json errors = json::object();  // the errno of each path that failed
  std::size_t paths = 0;

 private:
  // What is listed, and the views of it, which may be there.
  void directory(const std::string& path, int depth) {
    const auto names = listed(path);
    if (!names) return note(path, names.error());
    std::vector<std::string> below;
    for (const ListedName& each : *names) {
      const std::string at = path.empty() ? each.name : path + "/" + each.name;
      const auto found = fs_.find_path(at);
      if (!found) {
        note(at, found.error());
      } else if (S_ISDIR(found->attributes.mode)) {
        below.push_back(at);
        // What stands beside an object is what is in its directory.
        if (fs_.find_path(at + "/object.bin")) continue;
        for (const char* view : {".npy", ".txt", ".csv", ".jsonl", ".arrow", ".parquet"}) may_be(at + view);
      } else if (S_ISREG(found->attributes.mode)) {
        file(at);
        const std::size_t dot = at.rfind('.');
        for (const char* view : {".npy", ".txt"})
          if (dot != std::string::npos && dot > path.size()) may_be(at.substr(0, dot) + view);
      }
    }
    for (const char* view :
         {".schema.json", ".awkward.json", ".header.json", ".map.txt", ".keys.json", ".streamerinfo.json",
          ".option.npy", "index.html", "plot.svg", "plot.logy.svg", "plot.logxyz.svg", "table.csv", "text.txt"})
      may_be(path.empty() ? view : path + "/" + view);
    if (depth > kDepthMax) throw std::runtime_error("a directory without a bottom: " + path);
    for (const std::string& each : below) directory(each, depth + 1);
  }

  void may_be(const std::string& path) {
    if (fs_.find_path(path)) file(path);
  }

  // The beginning, the middle and the end.
  void file(const std::string& path) {
    if (!seen_.insert(path).second || ++paths > kPathsMax) return;
    if (const Result<> done = read(path); !done) note(path, done.error());
  }

  Result<> read(const std::string& path) {
    TRY(const auto found, fs_.find_path(path));
    const std::uint64_t size = found.attributes.size;
    std::uint64_t done = 0;
    while (done < kReadMax) {
      TRY(const std::string piece, content(path, done, kPiece));
      if (piece.empty()) break;
      done += piece.size();
    }
    for (const std::uint64_t at : {size / 2, size - std::min<std::uint64_t>(size, kPage)})
      if (at > done) TRY_VOID(read_page(path, at));
    return {};
  }

  Result<> read_page(const std::string& path, std::uint64_t at) {
    TRY(const std::string page, content(path, at, kPage));
    if (page.empty()) throw std::runtime_error(path + " ends before its size");
    return {};
  }

  Result<std::vector<ListedName>> listed(const std::string& path) {
    TRY(const auto found, fs_.find_path(path));
    TRY(auto names, names_in(fs_, found.id));
    if (names.size() > kNamesMax) throw std::runtime_error("a directory that never ends: " + path);
    return names;
  }

  void note(const std::string& path, const Error& error) { errors[path] = errno_of(error); }

  static constexpr int kDepthMax = 120;
  static constexpr std::size_t kNamesMax = 1 << 20;
  FileSystem& fs_;
  std::set<std::string> seen_;
};

json answer(const json& asked) {
  const auto options = parse_mount_options({"memory=" + std::to_string(asked.at("memory").get<std::uint64_t>())});
  auto fs = FileSystem::open(asked.at("path"), options->file_system);
  if (!fs) return {{"refused", fs.error().text}};
  Reader reader(**fs);
  reader.read_all();
  json told{{"paths", reader.paths}, {"errors", reader.errors}};
  if (asked.contains("read")) {
    const auto bytes = reader.content(asked.at("read"), 0, kPage);
    told["bytes"] = json::array();
    for (const char byte : bytes.value_or("")) told["bytes"].push_back(static_cast<unsigned char>(byte));
  }
  fs->reset();
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  told["peak"] = used.ru_maxrss * 1024;
  return told;
}

// False if the process that reads the file was ended by a signal, or by an exception.
bool answer_apart(const std::string& line) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kHangs);
    try {
      std::cout << answer(json::parse(line)).dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
    } catch (const std::exception& error) {
      std::cout << json{{"ended", error.what()}} << std::endl;
    }
    ::_exit(0);
  }
  return end_of_child(child) == 0;
}

}  // namespace
}  // namespace tfilefs

int main() {
  for (std::string line; std::getline(std::cin, line);)
    if (!tfilefs::answer_apart(line)) std::cout << "{\"ended\": \"by a signal\"}" << std::endl;
}
