// SPDX-License-Identifier: Apache-2.0
// Histograms of arrays, and copies of them, that are staged, committed, renamed and removed in random order, with
// crashes between any two calls of the disk, against a model of what docs/semantics/writing.md promises of objects.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "fs/campaign.h"
#include "fs/staging/simulated_disk.h"
#include "fs/standing_clock.h"
#include "fs/vfs/written_directory.h"
#include "tfile/file.h"

namespace tfilefs {
namespace object_model {

constexpr const char* kFile = "f.root";
const std::vector<std::string> kNames{"a", "b", "c", "d"};
const std::string kValues = "values.f8", kEdges = "xedges.f8", kBytes = "object.bin", kJson = "object.json";
constexpr std::chrono::milliseconds kQuiet{5000};

struct Object {
  std::map<std::string, std::string> files;  // as written; of a committed object those of its arrays
  bool committed = false;
  std::set<std::string> synced;  // files of which no byte may be missing after a crash
  bool is_copy() const { return !committed && !is_cut && files.contains("object.bin"); }
  bool is_cut = false;   // by a crash, which has taken some of its bytes
  bool is_torn = false;  // some of its files were removed, but not its directory: the next commit shows them again
};
using Objects = std::map<std::string, Object>;

std::string doubles(std::size_t count, double first) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = first + static_cast<double>(i);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

bool is_whole(const Object& object) {
  if (object.committed || object.is_cut) return object.committed;
  if (object.files.contains(kBytes)) return object.files.contains(kJson);
  const auto values = object.files.find(kValues), edges = object.files.find(kEdges);
  return values != object.files.end() && edges != object.files.end() && !values->second.empty() &&
         edges->second.size() == values->second.size() + sizeof(double);
}

struct ListedNames : DirectorySink {
  bool add(const std::string& name, InodeId, const Attributes& attributes, std::uint64_t) override {
    if (name != "." && name != "..") all.emplace_back(name, S_ISDIR(attributes.mode));
    return true;
  }
  std::vector<std::pair<std::string, bool>> all;
};

struct Stopped {};

class ObjectModel : public WrittenDirectory {
 public:
  using Random = std::mt19937_64;
  struct Done {
    std::uint64_t operations = 0, commits = 0, crashes = 0, copies = 0, removed = 0;
  };

  explicit ObjectModel(Random::result_type seed) : seed_(seed), random_(seed) {
    fs_.reset();
    options_.cache = {.memory = 16 << 20, .threads = 2};
    options_.write->commit = kQuiet;
    options_.clock = &clock_;
    begin(temporary_.path() / "0");
  }
  ~ObjectModel() {
    disk_.reset();
    fs_.reset();
  }

  Done run(std::uint64_t operations) {
    for (; done_.operations < operations; ++done_.operations) {
      if (chance(3)) disk_->stop_in(1 + below(40));
      try {
        make_file();
        step();
        check();
      } catch (const Stopped&) {
        restart();
      }
    }
    return done_;
  }

 private:
  // ---- the mount

  void begin(const std::filesystem::path& path) {
    path_ = path;
    std::filesystem::create_directory(path_);
    start();
  }
  void start() {
    disk_.emplace(path_, random_());
    mount();
  }

  template <class T, class Call>
  T need(const char* what, Call call) {
    Result<T> answer = ask<T>(std::move(call)).get();
    if (disk_->has_stopped()) throw Stopped();
    expect(answer.has_value(), std::string(what) + ": " + (answer ? "" : answer.error().text));
    if constexpr (!std::is_void_v<T>) return *std::move(answer);
  }
  void expect(bool is_so, const std::string& what) const {
    if (is_so) return;
    std::string text = what + "\nseed " + std::to_string(seed_) + "; the last operations:";
    const std::size_t shown = std::min<std::size_t>(history_.size(), 25);
    for (auto each = history_.end() - static_cast<std::ptrdiff_t>(shown); each != history_.end(); ++each)
      text += "\n  " + *each;
    throw std::runtime_error(text);
  }
  InodeId id(const std::string& path) {
    const auto found = fs_->find_path(path);
    if (disk_->has_stopped()) throw Stopped();
    expect(found.has_value(), path + " is not there");
    return found->id;
  }
  static std::string path_to(const std::string& name) { return std::string(kFile) + "/" + name; }

  void make_file() {
    if (fs_->find_path(kFile)) return;
    if (disk_->has_stopped()) throw Stopped();
    make(kRootId, kFile);
  }
  void make(InodeId in, const std::string& name) {
    need<FileSystem::Found>("mkdir", [&](auto reply) {
      fs_->make_directory(in, name, {S_IFDIR | 0755, ::geteuid(), ::getegid()}, std::move(reply));
    });
  }
  void write_file(const std::string& name, const std::string& file, const std::string& bytes) {
    note("write " + name + "/" + file + ", " + std::to_string(bytes.size()) + " bytes");
    Objects objects = now_;
    objects[name].files[file] = "";
    will_be(objects);
    const auto made = need<FileSystem::Created>("create", [&](auto reply) {
      fs_->create(id(path_to(name)), file, {S_IFREG | 0644, ::geteuid(), ::getegid()}, true, std::move(reply));
    });
    is_now(objects);
    objects[name].files[file] = bytes;
    will_be(objects);
    const HandleId handle = made.opened.handle;
    need<std::size_t>(
        "write", [&](auto reply) { fs_->write(handle, 0, false, std::as_bytes(std::span(bytes)), std::move(reply)); });
    is_now(objects);
    (void)ask<void>([&](auto reply) { fs_->flush(handle, std::move(reply)); }).get();
    fs_->release(handle);
    fs_->cache().exec().job_pool.finish();
    if (disk_->has_stopped()) throw Stopped();
  }
  void take(InodeId from, const std::string& name, bool directory) {
    need<void>(("remove of " + name).c_str(),
               [&](auto reply) { fs_->remove(from, name, directory, std::move(reply)); });
  }

  std::optional<std::string> content(const std::string& path) {
    const auto found = fs_->find_path(path);
    if (disk_->has_stopped()) throw Stopped();
    if (!found) return std::nullopt;
    const auto opened = need<FileSystem::Opened>("open", [&](auto reply) { fs_->open(found->id, std::move(reply)); });
    const Slices slices = need<Slices>("read", [&](auto reply) {
      fs_->read(opened.handle, 0, static_cast<std::size_t>(found->attributes.size), std::move(reply));
    });
    std::string bytes(slices.size(), 0);
    copy_slices(slices, reinterpret_cast<std::byte*>(bytes.data()));
    fs_->release(opened.handle);
    return bytes;
  }
  ListedNames listed(const std::string& path) {
    const HandleId handle = need<HandleId>("opendir", [&](auto reply) { fs_->opendir(id(path), std::move(reply)); });
    const auto names = std::make_shared<ListedNames>();
    need<void>("readdir", [&](auto reply) { fs_->readdir(handle, 0, false, names, std::move(reply)); });
    fs_->release(handle);
    return *names;
  }

  // ---- the model

  void note(std::string operation) { history_.push_back(std::move(operation)); }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool chance(unsigned percent) { return below(100) < percent; }
  // What a call that is under way makes of them, and that it has.
  void will_be(const Objects& objects) { since_.push_back(objects); }
  void is_now(const Objects& objects) { now_ = objects; }

  template <class Condition>
  std::optional<std::string> any_name(const Condition& condition) {
    std::vector<std::string> names;
    std::ranges::copy_if(kNames, std::back_inserter(names), [&](const std::string& name) {
      const auto found = now_.find(name);
      return condition(found == now_.end() ? nullptr : &found->second);
    });
    if (names.empty()) return std::nullopt;
    return names[below(names.size())];
  }
  static bool is_committed(const Object* object) { return object && object->committed && !object->is_torn; }
  static bool is_staged(const Object* object) { return object && !object->committed; }

  void step() {
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return add_array();
      case 3:
      case 4:
        return copy_one();
      case 5:
      case 6:
        return commit_all();
      case 7:
        return remove_one();
      case 8:
        return rename_one();
      case 9:
        return pass_time();
      case 10:
        return remount();
      default:
        disk_->stop_in(1);
        return restart();
    }
  }

  // One more file of a histogram; a new one where none lacks any.
  void add_array() {
    auto name = any_name([](const Object* object) { return is_staged(object) && !is_whole(*object); });
    if (name && now_.at(*name).is_copy()) return add_json(*name);
    if (!name) name = any_name([](const Object* object) { return !object; });
    if (!name) return;
    const std::map<std::string, std::string> files = now_.contains(*name) ? now_.at(*name).files : Object().files;
    const auto is_empty = [](const auto& file) { return file.second.empty(); };
    if (now_.contains(*name) && (now_.at(*name).is_cut || std::ranges::any_of(files, is_empty))) return remove(*name);
    if (files.empty()) make_directory_of(*name);
    const std::string file = files.contains(kValues) ? kEdges : files.contains(kEdges) ? kValues : any_array();
    const std::string& other = file == kValues ? kEdges : kValues;
    const std::size_t fits =
        !files.contains(other) ? 3 + below(60) : files.at(other).size() / sizeof(double) + (file == kEdges ? 1 : -1);
    write_file(*name, file, doubles(fits, static_cast<double>(below(100))));
  }
  void make_directory_of(const std::string& name) {  // unless a crash has left an empty one
    if (!fs_->find_path(path_to(name))) make(id(kFile), name);
  }
  const std::string& any_array() { return chance(50) ? kValues : kEdges; }

  void copy_one() {
    const auto from = any_name(is_committed), to = any_name([](const Object*object) { return !object; });
    if (!from || !to) return;
    note("copy " + *from + " to " + *to);
    ++done_.copies;
    const auto bytes = content(path_to(*from) + "/" + kBytes);
    expect(bytes.has_value(), "a committed object has no bytes");
    make_directory_of(*to);
    copied_from_[*to] = now_.at(*from).files;
    write_file(*to, kBytes, *bytes);
    if (chance(70)) add_json(*to);
  }
  // The class of a copy: that of any other histogram.
  void add_json(const std::string& name) {
    const auto from = any_name(is_committed);
    if (!from) return;
    write_file(name, kJson, content(path_to(*from) + "/" + kJson).value());
  }

  // What is whole is committed, and so shows its arrays.
  Objects committed() const {
    Objects objects = now_;
    for (auto& [name, object] : objects) {
      if (!is_whole(object)) continue;
      if (!object.committed && object.files.contains(kBytes)) object.files = copied_from_.at(name);
      object.committed = true;
      object.is_torn = false;
    }
    return objects;
  }
  // A directory of nothing would become a directory of the file, and one array alone a table.
  void drop_parts() {
    for (const std::string& name : kNames)
      if (now_.contains(name) && !is_whole(now_.at(name)) && !now_.at(name).is_copy()) remove(name);
    for (const std::string& name : kNames)
      if (!now_.contains(name) && fs_->find_path(path_to(name))) take(id(kFile), name, true);
    if (disk_->has_stopped()) throw Stopped();
  }
  void commit_all() {
    drop_parts();
    note("commit");
    ++done_.commits;
    const Objects after = committed();
    will_be(after);
    const HandleId handle = need<HandleId>("opendir", [&](auto reply) { fs_->opendir(id(kFile), std::move(reply)); });
    auto answer = ask<void>([&](auto reply) { fs_->sync(handle, std::move(reply)); });
    while (answer.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) clock_.move(kQuiet / 50);
    const auto result = answer.get();
    fs_->release(handle);
    if (disk_->has_stopped()) throw Stopped();
    expect(result.has_value(), "commit: " + (result ? "" : result.error().text));
    settle(after);
  }
  void settle(Objects after) {
    for (auto& [name, object] : after)
      for (const auto& [file, bytes] : object.files) object.synced.insert(file);
    is_now(after);
    since_ = {after};
    check_file();
  }
  void pass_time() {
    drop_parts();
    note("wait");
    const Objects after = committed();
    will_be(after);
    clock_.pass(3 * kQuiet);
    if (disk_->has_stopped()) throw Stopped();
    is_now(after);
    check_file();
  }

  // Its files one by one, then the directory.
  void remove_one() {
    const auto name = any_name([](const Object* object) { return object != nullptr; });
    if (name) remove(*name);
  }
  void remove(const std::string& name) {
    note("remove " + name);
    ++done_.removed;
    const bool was_committed = now_.at(name).committed, stops_early = was_committed && chance(20);
    Objects objects = now_;
    if (was_committed) objects[name].is_torn = true;
    if (was_committed) will_be(objects);
    if (was_committed) is_now(objects);
    take_files(path_to(name), [&](const std::string& file) {
      if (was_committed) return;
      objects[name].files.erase(file);
      if (objects[name].files.empty()) objects.erase(name);
      will_be(objects);
    });
    if (!was_committed) is_now(objects);
    if (stops_early) return;
    objects.erase(name);
    will_be(objects);
    take(id(kFile), name, true);
    is_now(objects);
  }
  void take_files(const std::string& path, const std::function<void(const std::string&)>& before) {
    const InodeId directory = id(path);
    for (const auto& [file, is_directory] : listed(path).all) {
      if (is_directory) take_files(path + "/" + file, [](const std::string&) {});
      before(file);
      take(directory, file, is_directory);
    }
  }

  void rename_one() {
    drop_parts();
    const auto from = any_name([](const Object* object) { return object && !object->is_torn; });
    const auto to = any_name([](const Object* object) { return !object; });
    if (!from || !to) return;
    note("rename " + *from + " to " + *to);
    Objects objects = now_;
    objects[*to] = objects.at(*from);
    objects.erase(*from);
    if (copied_from_.contains(*from)) copied_from_[*to] = copied_from_.at(*from);
    will_be(objects);
    const InodeId in = id(kFile);
    need<void>("rename", [&](auto reply) { fs_->rename(in, *from, in, *to, 0, std::move(reply)); });
    is_now(objects);
  }

  // A regular end commits what is whole, and keeps the rest.
  void remount() {
    drop_parts();
    note("remount");
    const Objects after = committed();
    will_be(after);
    const auto lost = fs_->end();
    if (disk_->has_stopped()) throw Stopped();
    expect(lost.empty(), "what is staged would be lost");
    fs_.reset();
    disk_.reset();
    start();
    settle(after);
  }

  void restart() {
    const auto ending = chance(50) ? SimulatedDisk::Ending::process : SimulatedDisk::Ending::machine;
    note(ending == SimulatedDisk::Ending::process ? "killed" : "power cut");
    ++done_.crashes;
    disk_->stop_in(1);
    const std::filesystem::path before = path_, next = temporary_.path() / std::to_string(done_.crashes);
    std::filesystem::create_directory(next);
    disk_->leave(next, ending);
    fs_.reset();
    disk_.reset();
    std::filesystem::remove_all(before);
    path_ = next;
    start();
    see_what_is_left(ending);
  }

  // ---- what is there

  // The objects are as they were at some time since the last sync; after the end of the process alone, as the last call
  // found or left them.
  void see_what_is_left(SimulatedDisk::Ending ending) {
    const std::size_t most = ending == SimulatedDisk::Ending::machine || was_cut_ ? since_.size() : 3;
    was_cut_ |= ending == SimulatedDisk::Ending::machine;
    const std::vector<Objects> states(since_.end() - static_cast<std::ptrdiff_t>(std::min(most, since_.size())),
                                      since_.end());
    std::string text;
    for (std::size_t i = states.size(); i-- > 0;) {
      const std::string differs = difference(states[i], true);
      if (differs.empty()) return adopt(states[i]);
      if (i + 6 > states.size()) text += "\nstate " + std::to_string(i) + ": " + differs;
    }
    expect(false, "what is left has not been so:" + text);
  }

  void adopt(Objects objects) {
    for (auto& [name, object] : objects) {
      if (object.committed) {
        object.is_torn |= !is_complete(name);
        continue;
      }
      for (auto& [file, bytes] : object.files) {
        const auto left = content(path_to(name) + "/" + file).value_or("");
        object.is_cut |= left != bytes || left.empty();
        bytes = left;
      }
    }
    now_ = objects;
    since_ = {now_};
    was_cut_ = false;
  }
  bool is_complete(const std::string& name) {
    return content(path_to(name) + "/" + kValues) && content(path_to(name) + "/" + kEdges) &&
           content(path_to(name) + "/" + kBytes) && content(path_to(name) + "/" + kJson);
  }

  // Empty if the mount shows these objects. `is_partly`: bytes that were not synced may be missing, or zero.
  std::string difference(const Objects& objects, bool is_partly) {
    for (const std::string& name : kNames) {
      const auto expected = objects.find(name);
      const std::string path = path_to(name);
      if (expected == objects.end()) {
        if (fs_->find_path(path) && !listed(path).all.empty()) return name + " is there";
        continue;
      }
      const Object& object = expected->second;
      if (object.committed && !object.is_torn && !is_complete(name)) return name + " is not whole";
      for (const std::string& file : {kValues, kEdges, kBytes, kJson})
        if (!object.committed && !object.files.contains(file) && fs_->find_path(path + "/" + file))
          return name + "/" + file + " is there";
      for (const auto& [file, bytes] : object.files) {
        const auto found = content(path + "/" + file);
        if (object.is_torn && !found) continue;
        if (!found) return name + "/" + file + " is not there";
        const bool is_part = is_partly && !object.synced.contains(file) && found->size() <= bytes.size() &&
                             std::equal(found->begin(), found->end(), bytes.begin(),
                                        [](char one, char other) { return one == other || one == 0; });
        if (*found != bytes && !is_part) return name + "/" + file + " has other bytes";
      }
    }
    return "";
  }

  void check() {
    const std::string differs = difference(now_, false);
    expect(differs.empty(), differs);
  }
  std::set<std::string> committed_names() const {
    std::set<std::string> names;
    for (const auto& [name, object] : now_)
      if (object.committed) names.insert(name);
    return names;
  }
  // After a commit the keys of the ROOT file are the committed objects.
  void check_file() { expect(keys_of_file() == committed_names(), "the file has other keys"); }

  std::set<std::string> keys_of_file() {
    std::set<std::string> keys;
    auto source = tfile::open_source((path_ / kFile).string());
    if (!source && source.error().kind == ErrorKind::not_found) return keys;
    expect(source.has_value(), "the ROOT file cannot be opened");
    const auto file = tfile::File::open(*std::move(source));
    expect(file.has_value(), "the ROOT file: " + (file ? "" : file.error().text));
    expect(!(*file)->recovered() && (*file)->warnings().empty(), "the ROOT file is not as it was closed");
    for (const tfile::KeyInfo& key : (*file)->root()->keys) {
      expect(key.class_name == "TH1D", std::string(key.name) + " has class " + std::string(key.class_name));
      expect(keys.insert(std::string(key.name)).second, "two cycles of " + std::string(key.name));
    }
    return keys;
  }

  const Random::result_type seed_;
  Random random_;
  StandingClock clock_;
  std::optional<SimulatedDisk> disk_;
  Objects now_;
  std::vector<Objects> since_{Objects()};  // what they have been since all was synced
  bool was_cut_ = false;                   // the machine stopped since what is left was seen
  std::map<std::string, std::map<std::string, std::string>> copied_from_;  // arrays of what was copied
  Done done_;
  std::vector<std::string> history_;
};

TEST(ObjectModel, IsWhatAMountIs) {
  const auto [files, first] = campaign_of(8);
  ObjectModel::Done all;
  for (std::uint64_t i = 0; i < files; ++i) {
    ObjectModel model(first + i);
    ObjectModel::Done done;
    ASSERT_NO_THROW(done = model.run(120));
    all.operations += done.operations;
    all.commits += done.commits;
    all.crashes += done.crashes;
    all.copies += done.copies;
    all.removed += done.removed;
  }
  std::cout << "TFILEFS_CRASH_SEED=" << first << ": " << all.operations << " operations, " << all.commits
            << " commits, " << all.crashes << " crashes, " << all.copies << " copies, " << all.removed << " removed\n";
}

}  // namespace object_model
}  // namespace tfilefs
