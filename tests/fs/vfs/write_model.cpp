// SPDX-License-Identifier: Apache-2.0
#include "fs/vfs/write_model.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>
#include <span>

#include "tfile/file.h"
#include "tfile/stream_set.h"
#include "tfile/table.h"
#include "waited.h"

namespace tfilefs {

namespace {

constexpr const char* kFileName = "f.root";
const std::vector<std::string> kTables{"T", "U"};
// Files of a table, and the bytes of an item. The last one is no column: it gets another name later.
const std::map<std::string, std::size_t> kItems{{"a.i4", 4},         {"b.f8", 8},         {"c.u1", 1},
                                                {"d.i2x3", 6},       {"l/offsets.i8", 8}, {"l/values.i4", 4},
                                                {"s/offsets.i8", 8}, {"s/chars.u1", 1},   {".part", 1}};
const std::vector<std::string> kLists{"l", "s"};
constexpr std::chrono::milliseconds kCommit{5000};
constexpr unsigned kOnDisk = 25;  // shares of the operations that change the disk
constexpr std::uint64_t kNever = 1 << 30;
constexpr std::size_t kEntriesMost = 800;  // of a table, roughly

std::string mounted_path(const std::string& path) {
  return path.empty() ? kFileName : std::string(kFileName) + "/" + path;
}
std::string table_of(const std::string& path) { return path.substr(0, path.find('/')); }
std::string name_in_table(const std::string& path) { return path.substr(path.find('/') + 1); }
std::size_t item_size(const std::string& path) { return kItems.at(name_in_table(path)); }
bool is_column(const std::string& path) { return name_in_table(path).front() != '.'; }
// "T/l" of its files; empty: of no list.
std::string list_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.find('/') ? "" : path.substr(0, slash);
}
bool is_offsets(const std::string& path) { return path.ends_with("offsets.i8"); }
std::string values_of(const std::string& list) { return list + (list.ends_with('l') ? "/values.i4" : "/chars.u1"); }
std::string other_file(const std::string& path) {
  return is_offsets(path) ? values_of(list_of(path)) : list_of(path) + "/offsets.i8";
}

// Lists have 0, 1, 2, 3, 0, ... items.
std::int64_t list_begin_at(std::size_t list) {
  return static_cast<std::int64_t>(list / 4 * 6 + (list % 4) * (list % 4 - 1) / 2);
}

std::string offsets_bytes(std::size_t begin, std::size_t size) {
  std::string bytes;
  for (std::size_t i = begin / 8; bytes.size() < begin % 8 + size; ++i) {
    const std::int64_t offset = list_begin_at(i);
    bytes.append(reinterpret_cast<const char*>(&offset), sizeof offset);
  }
  return bytes.substr(begin % 8, size);
}

Creation as_this_user(mode_t mode) { return {mode, ::geteuid(), ::getegid()}; }

// The sizes of the columns of a table as the library counts them.
Result<std::map<std::string, std::size_t>> sizes_in(const tfile::Table& table) {
  std::map<std::string, std::size_t> sizes;
  for (const tfile::Column& column : table.columns) {
    const std::string path = table.name + "/" + column.path;
    TRY(const std::int64_t items, tfile::count_items(table, column.stream, column.slot));
    sizes[path] = static_cast<std::size_t>(items) * item_size(path);
    const bool of_entries = list_of(path).empty() || is_offsets(path);
    const std::int64_t entries = items - (is_offsets(path) ? 1 : 0);
    if (of_entries && entries != table.entries) return tfile::fail(ErrorKind::invalid, path + ": not as many items");
  }
  return sizes;
}

}  // namespace

WriteModel::WriteModel(Random::result_type seed) : seed_(seed), random_(seed) {
  path_ = temporary_.path() / "0";
  std::filesystem::create_directory(path_);
  names_since_.emplace_back();
  mount();
}

WriteModel::~WriteModel() {
  disk_.reset();
  fs_.reset();
}

void WriteModel::run(std::uint64_t operations) {
  for (std::uint64_t i = 0; i < operations; ++i) step();
  disk_->stop_in(kNever);
  for (const std::string& table : kTables) finish(table);
  remount();
}

// ---- answers

template <class T, class Call>
Result<T> WriteModel::ask(Call call) {
  auto answer = waited<T>(std::move(call));
  if (disk_->has_stopped()) throw Stopped();
  return answer;
}

// For what may wait for files that are being closed, which is a second at most.
template <class Call>
Result<void> WriteModel::ask_in_time(Call call) {
  std::promise<Result<void>> promise;
  auto answer = promise.get_future();
  call(Reply<void>([&](Result<void> result) { promise.set_value(std::move(result)); }));
  constexpr std::chrono::milliseconds kStep{100};
  for (int i = 0; i < 10 && answer.wait_for(kStep / 10) != std::future_status::ready; ++i) clock_.move(kStep);
  answer.wait();
  if (disk_->has_stopped()) throw Stopped();
  return answer.get();
}

template <class T>
void WriteModel::need(const Result<T>& answer, const std::string& what) {
  if (answer) return;
  if (faulty_ && disk_->mend()) throw Faulted();
  expect(false, what + ": " + answer.error().text);
}

void WriteModel::expect(bool is_so, const std::string& what) const {
  if (is_so) return;
  std::string text =
      what + "\nseed " + std::to_string(seed_) + ", operation " + std::to_string(done_.operations) + "; the last ones:";
  const std::size_t shown = std::min<std::size_t>(history_.size(), 40);
  for (auto each = history_.end() - static_cast<std::ptrdiff_t>(shown); each != history_.end(); ++each)
    text += "\n  " + *each;
  throw std::runtime_error(text);
}

void WriteModel::note(const std::string& operation) { history_.push_back(operation); }

bool WriteModel::is_there(const std::string& path) {
  const auto found = fs_->find_path(mounted_path(path));
  if (disk_->has_stopped()) throw Stopped();
  return found.has_value();
}

InodeId WriteModel::id_of(const std::string& path) {
  const auto found = fs_->find_path(mounted_path(path));
  if (disk_->has_stopped()) throw Stopped();
  expect(found.has_value(), path + " is not there: " + (found ? "" : found.error().text));
  return found->id;
}

// ---- the mount

void WriteModel::mount() {
  ++done_.mounts;
  FileSystemOptions options;
  options.cache = {.memory = 16 << 20, .threads = 2};
  options.write.emplace().commit = kCommit;
  options.clock = &clock_;
  options.write->format = seed_ % 3 == 0 ? tfile::TableFormat::rntuple : tfile::TableFormat::tree;
  disk_.emplace(path_, random_());
  auto opened = FileSystem::open(path_.string(), options);
  expect(opened.has_value(), "the directory cannot be mounted");
  fs_ = *std::move(opened);
}

void WriteModel::make_directories() {
  const auto make = [&](InodeId in, const std::string& name) {
    return ask<FileSystem::Found>(
        [&](auto reply) { fs_->make_directory(in, name, as_this_user(S_IFDIR | 0755), std::move(reply)); });
  };
  if (!is_there("")) need(make(kRootId, kFileName), "mkdir of the file");
  for (const std::string& table : kTables) {
    if (!is_there(table)) need(make(id_of(""), table), "mkdir of a table");
  }
}

// A regular end commits what is whole, and keeps the rest.
void WriteModel::remount() {
  note("remount");
  for (const std::string& table : kTables) {
    if (names_.contains(table + "/.part")) remove(table + "/.part");
    mend_lists(table);
    if (paths(table).empty()) create(table + "/a.i4");  // an empty directory would be no table from then on
    for (const std::string& path : paths(table)) {
      if (paths(table).size() == 1 && names_.at(path)->bytes.empty()) grow(path, 1);
    }
  }
  for (Handle& handle : handles_) handle.file->writers = 0;
  handles_.clear();
  committing_ = true;
  const auto lost = fs_->end();
  if (disk_->has_stopped()) throw Stopped();
  if (faulty_ && disk_->mend()) throw Faulted();
  expect(lost.empty(), "what is staged would be lost");
  fs_.reset();
  see_commits("", true);
  promise_all();
  mount();
  see_what_is_left();
}

void WriteModel::crash() {
  for (;;) {
    try {
      return restart(chance(50) ? SimulatedDisk::Ending::process : SimulatedDisk::Ending::machine);
    } catch (const Stopped&) {  // while what was left was taken over
    }
  }
}

// Goes on with what is left, in another directory: the former process may still have files open in the first one.
void WriteModel::restart(SimulatedDisk::Ending ending) {
  note(ending == SimulatedDisk::Ending::process ? "killed" : "power cut");
  ++done_.crashes;
  disk_->stop_in(1);
  const std::filesystem::path next = temporary_.path() / std::to_string(done_.crashes);
  std::filesystem::create_directory(next);
  disk_->leave(next, ending);
  handles_.clear();
  fs_.reset();
  disk_.reset();
  std::filesystem::remove_all(path_);
  path_ = next;
  faulty_ = false;
  machine_stopped_ |= ending == SimulatedDisk::Ending::machine;
  see_commits("", false);
  mount();
  if (chance(30)) disk_->stop_in(1 + below(15));
  see_what_is_left();
}

// All files that were promised are there, with all that was promised, and nothing that was never written.
void WriteModel::see_what_is_left() {
  std::map<std::string, std::string> left;
  for (const std::string& table : kTables) {
    for (const auto& [name, item] : kItems) {
      if (auto bytes = content(table + "/" + name)) left[table + "/" + name] = *std::move(bytes);
    }
  }
  // A call that was under way may have come into effect; if the machine stopped, those since the last sync.
  const std::size_t most = machine_stopped_ ? names_since_.size() : 2;
  for (std::size_t i = 0; i < std::min(most, names_since_.size()); ++i) {
    const Names names = names_since_[names_since_.size() - 1 - i];
    if (!is_as(names, left)) continue;
    adopt(names, left);
    make_directories();
    return check_mount();
  }
  std::string text = "what is left has not been written:";
  for (const auto& [path, bytes] : left) text += "\n" + path + ": " + std::to_string(bytes.size()) + " bytes";
  for (const auto& [path, file] : names_since_.back()) {
    text += "\nwas " + path + ": " + std::to_string(file->base) + " bytes committed, then";
    for (const std::string& state : file->states) text += " " + std::to_string(state.size());
  }
  expect(false, text);
}

bool WriteModel::is_as(const Names& names, const std::map<std::string, std::string>& left) const {
  if (names.size() != left.size()) return false;
  return std::ranges::all_of(names, [&](const auto& each) {
    const auto found = left.find(each.first);
    if (found == left.end()) return false;
    const std::string& bytes = found->second;
    const File& file = *each.second;
    const auto [least, most] = std::ranges::minmax(file.states, {}, &std::string::size);
    if (bytes.size() < std::max(least.size(), file.base) || bytes.size() > most.size()) return false;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool was_there = std::ranges::any_of(
          file.states, [&](const std::string& state) { return i < state.size() && state[i] == bytes[i]; });
      const bool may_be_hole = bytes[i] == 0 && i >= file.states.front().size();
      if (i < file.base ? file.bytes[i] != bytes[i] : !was_there && !may_be_hole) return false;
    }
    return true;
  });
}

void WriteModel::adopt(const Names& names, const std::map<std::string, std::string>& left) {
  Names now;
  for (const auto& [path, file] : names) {
    const auto& kept = now[path] = std::make_shared<File>(*file);
    kept->bytes = left.at(path);
    kept->states = {kept->bytes};
    kept->writers = 0;
  }
  names_ = now;
  names_since_ = {names_};
  machine_stopped_ = false;
  std::erase_if(dropped_, [&](const std::string& path) { return names_.contains(path); });
}

// ---- operations

void WriteModel::step() {
  ++done_.operations;
  touched_.clear();
  if (chance(2)) disk_->stop_in(1 + below(60));
  try {
    make_directories();
    chance(4) ? with_fault() : choose(100);
    check_some();
  } catch (const Stopped&) {
    crash();
  } catch (const Faulted&) {
    ++done_.faults;
    crash();
  }
}

// A call of the operation fails, or those from then on.
void WriteModel::with_fault() {
  const bool full = chance(60);
  note(full ? "no room" : "a fault");
  disk_->fail_in(1 + below(any_of(std::vector<std::size_t>{3, 25})), full ? ENOSPC : EIO, chance(50));
  faulty_ = true;
  choose(kOnDisk);
  faulty_ = false;
  if (disk_->mend()) ++done_.faults;  // which the mount has got over
}

void WriteModel::choose(unsigned shares) {
  std::uint64_t at = below(shares);
  const auto is_next = [&](unsigned share) { return at < share || (at -= share, false); };
  if (is_next(8)) return create_one();
  if (is_next(3)) return truncate_one();
  if (is_next(5)) return sync_one();
  if (is_next(2)) return remove_one();
  if (is_next(3)) return rename_one();
  if (is_next(3)) return commit_one();
  if (is_next(1)) return remount();  // up to here kOnDisk
  if (is_next(1)) return crash();
  if (is_next(4)) return wait_one();
  if (is_next(8)) return open_one(chance(60));
  if (is_next(8)) return handles_.empty() ? void() : close(below(handles_.size()));
  write_one(chance(70));
}

void WriteModel::create_one() {
  const std::string path = any_of(kTables) + "/" + any_of(kItems).first;
  if (names_.contains(path) || dropped_.contains(path)) return;
  create(path);
}

void WriteModel::create(const std::string& path) {
  note("create " + path);
  const std::string list = list_of(path);
  if (!list.empty() && !is_there(list)) {
    const auto made = ask<FileSystem::Found>([&](auto reply) {
      fs_->make_directory(id_of(table_of(path)), name_in_table(list), as_this_user(S_IFDIR | 0755), std::move(reply));
    });
    need(made, "mkdir of a list");
  }
  touched_.insert(path);
  Names names = names_;
  names[path] = std::make_shared<File>();
  const FilePtr file = names[path];
  names_since_.push_back(names);
  const std::string above = list.empty() ? table_of(path) : list;
  const auto made = ask<FileSystem::Created>([&](auto reply) {
    fs_->create(id_of(above), path.substr(above.size() + 1), as_this_user(S_IFREG | 0644), true, std::move(reply));
  });
  need(made, "create");
  names_ = std::move(names);
  handles_.push_back({made->opened.handle, file, path, true});
  ++file->writers;
}

void WriteModel::open_one(bool to_write) {
  if (names_.empty() || handles_.size() > 8) return;
  const auto& [path, file] = any_of(names_);
  note(std::string("open ") + (to_write ? "to write " : "") + path);
  const auto opened = ask<FileSystem::Opened>([&, id = id_of(path)](auto reply) {
    to_write ? fs_->open_to_write(id, std::move(reply)) : fs_->open(id, std::move(reply));
  });
  need(opened, "open");
  handles_.push_back({opened->handle, file, path, to_write});
  file->writers += to_write ? 1 : 0;
}

void WriteModel::close(std::size_t at) {
  const Handle handle = handles_[at];
  note("close " + handle.path);
  handles_.erase(handles_.begin() + static_cast<std::ptrdiff_t>(at));
  const auto flushed = ask<void>([&](auto reply) { fs_->flush(handle.id, std::move(reply)); });
  fs_->release(handle.id);
  handle.file->writers -= handle.writes ? 1 : 0;
  need(flushed, "close");
}

void WriteModel::close_writers(const std::string& table) {
  for (std::size_t i = handles_.size(); i-- > 0;) {
    if (handles_[i].writes && table_of(handles_[i].path) == table) close(i);
  }
}

// What is behind the end of a column: offsets are those of lists of few items, whatever is cut off and written again.
std::string WriteModel::more_of(const std::string& path, std::size_t size) {
  const std::size_t end = names_.at(path)->bytes.size();
  if (is_offsets(path)) return offsets_bytes(end, size);
  std::string bytes(size, 0);
  for (char& each : bytes) each = static_cast<char>(below(256));
  return bytes;
}

void WriteModel::write_one(bool append) {
  std::vector<std::size_t> writers;
  for (std::size_t i = 0; i < handles_.size(); ++i) {
    const Handle& each = handles_[i];
    const auto named = names_.find(each.path);
    if (each.writes && named != names_.end() && named->second == each.file) writers.push_back(i);
  }
  if (writers.empty()) return open_one(true);
  Handle& handle = handles_[any_of(writers)];
  const std::size_t size = 1 + below(any_of(std::vector<std::size_t>{4, 8, 100, 800}));
  const std::size_t end = handle.file->bytes.size();
  if (end > kEntriesMost * item_size(handle.path)) return;
  if (append || is_offsets(handle.path)) return write(handle, end, more_of(handle.path, size));
  write(handle, below(end + any_of(std::vector<std::size_t>{1, 1, 10, 200})), more_of(handle.path, size));
}

void WriteModel::write(Handle& handle, std::uint64_t offset, const std::string& bytes) {
  File& file = *handle.file;
  touched_.insert(handle.path);
  note("write " + handle.path + " at " + std::to_string(offset) + ", " + std::to_string(bytes.size()) + " bytes");
  std::string after = file.bytes;
  after.resize(std::max<std::size_t>(after.size(), offset + bytes.size()));
  after.replace(offset, bytes.size(), bytes);
  if (offset >= file.base) file.states.push_back(after);
  const auto written = ask<std::size_t>(
      [&](auto reply) { fs_->write(handle.id, offset, false, std::as_bytes(std::span(bytes)), std::move(reply)); });
  if (offset < file.base) {
    expect(!written && written.error().system_errno == EPERM, "committed bytes may be overwritten");
    return;
  }
  need(written, "write");
  changed_ = clock_.now();
  file.bytes = std::move(after);
}

void WriteModel::truncate_one() {
  if (names_.empty()) return;
  const std::string path = any_of(names_).first;
  const std::size_t size = names_.at(path)->bytes.size();
  if (!is_offsets(path)) return truncate(path, below(size + 20));
  truncate(path, below(size + 1));
}

void WriteModel::truncate(const std::string& path, std::uint64_t size) {
  note("truncate " + path + " to " + std::to_string(size));
  touched_.insert(path);
  File& file = *names_.at(path);
  std::string after = file.bytes;
  after.resize(size);
  const bool refused = size < file.base;
  if (!refused) file.states.push_back(after);
  AttributeChange change;
  change.size = size;
  const auto done = ask<Attributes>([&](auto reply) { fs_->change(id_of(path), change, std::move(reply)); });
  if (refused) return expect(!done && done.error().system_errno == EPERM, "committed bytes may be cut off");
  need(done, "truncate");
  changed_ = clock_.now();
  file.bytes = std::move(after);
}

void WriteModel::sync_one() {
  if (handles_.empty()) return;
  const Handle& handle = any_of(handles_);
  note("sync " + handle.path);
  const auto named = names_.find(handle.path);
  if (named == names_.end() || named->second != handle.file) return;
  const auto done = ask<void>([&](auto reply) { fs_->sync(handle.id, std::move(reply)); });
  need(done, "sync");
  handle.file->states = {handle.file->bytes};
  if (handle.writes) names_since_ = {names_};
}

void WriteModel::remove_one() {
  if (names_.empty()) return;
  const std::string path = any_of(names_).first;
  const bool committed = committed_[table_of(path)].contains(path);
  if (committed) {
    const auto stays = [&](const auto& each) {
      return each.first != path && table_of(each.first) == table_of(path) && list_of(each.first).empty() &&
             committed_[table_of(path)].contains(each.first);
    };
    if (chance(60) || std::ranges::none_of(names_, stays)) return;
  }
  if (const std::string list = list_of(path); !list.empty() && (committed || chance(50))) return remove_list(list);
  remove(path);
}

void WriteModel::remove_list(const std::string& list) {
  for (const std::string& path : {list + "/offsets.i8", values_of(list)}) {
    if (names_.contains(path)) remove(path);
  }
}

void WriteModel::remove(const std::string& path) {
  note("remove " + path);
  touched_.insert(path);
  const bool committed = committed_[table_of(path)].contains(path);
  for (std::size_t i = handles_.size(); committed && i-- > 0;) {
    if (handles_[i].file == names_.at(path)) close(i);
  }
  Names names = names_;
  names.erase(path);
  names_since_.push_back(names);
  const std::string list = list_of(path), above = list.empty() ? table_of(path) : list;
  if (committed) dropped_.insert(path);
  take(above, path.substr(above.size() + 1), false);
  names_ = std::move(names);
  if (!list.empty() && !names_.contains(other_file(path))) take(table_of(path), name_in_table(list), true);
}

void WriteModel::take(const std::string& from, const std::string& name, bool directory) {
  need(ask<void>([&](auto reply) { fs_->remove(id_of(from), name, directory, std::move(reply)); }),
       "remove of " + from + "/" + name);
}

void WriteModel::rename_one() {
  std::vector<std::string> movable;
  for (const auto& [path, file] : names_) {
    if (!committed_[table_of(path)].contains(path) && list_of(path).empty()) movable.push_back(path);
  }
  if (movable.empty()) return;
  const std::string from = any_of(movable);
  const std::string to = (chance(80) ? table_of(from) : any_of(kTables)) + "/" + any_of(kItems).first;
  const bool taken = committed_[table_of(to)].contains(to) || dropped_.contains(to);
  if (from == to || taken || !list_of(to).empty()) return;
  note("rename " + from + " to " + to);
  touched_.insert({from, to});
  Names names = names_;
  names[to] = names.at(from);
  names.erase(from);
  names_since_.push_back(names);
  const auto done = ask<void>([&](auto reply) {
    fs_->rename(id_of(table_of(from)), name_in_table(from), id_of(table_of(to)), name_in_table(to), 0,
                std::move(reply));
  });
  need(done, "rename");
  names_ = std::move(names);
  for (Handle& handle : handles_) {
    if (handle.file == names_.at(to)) handle.path = to;
  }
}

// ---- commits

void WriteModel::commit_one() {
  const std::string table = any_of(kTables);
  if (chance(70)) finish(table);
  if (names_.contains(table + "/.part")) remove(table + "/.part");
  const bool whole_file = chance(40);
  for (const std::string& other : kTables) {
    if (whole_file && names_.contains(other + "/.part")) remove(other + "/.part");
  }
  commit(whole_file ? "" : table);
}

void WriteModel::commit(const std::string& below) {
  note("commit " + (below.empty() ? "all" : below));
  ++done_.commits;
  const auto opened = ask<HandleId>([&](auto reply) { fs_->opendir(id_of(below), std::move(reply)); });
  need(opened, "opendir");
  committing_ = true;
  const auto done = ask_in_time([&](auto reply) { fs_->sync(*opened, std::move(reply)); });
  fs_->release(*opened);
  need(done, "commit");
  see_commits(below, true);
  names_since_ = {names_};
  for (auto& [path, file] : names_) {
    if (below.empty() || table_of(path) == below) file->states = {file->bytes};
  }
}

// What is whole is committed when nothing has changed for a while, and not before.
void WriteModel::wait_one() {
  using std::chrono::milliseconds;
  const auto time =
      any_of(std::vector<milliseconds>{milliseconds(1), kCommit / 2, kCommit - milliseconds(1), 3 * kCommit});
  ++done_.waits;
  note("wait " + std::to_string(time.count()) + " ms");
  clock_.pass(time);
  if (disk_->has_stopped()) throw Stopped();
  see_commits("", time > 2 * kCommit);
}

// All columns get as many entries.
void WriteModel::finish(const std::string& table) {
  mend_lists(table);
  if (names_.contains(table + "/.part")) remove(table + "/.part");
  if (paths(table).empty()) create(table + "/a.i4");
  std::size_t most = 1;
  for (const std::string& path : paths(table)) {
    if (list_of(path).empty() || is_offsets(path))
      most = std::max(most, names_.at(path)->bytes.size() / item_size(path) + 1);
  }
  for (const std::string& path : paths(table)) grow(path, most);
  for (const std::string& path : paths(table)) {
    if (!list_of(path).empty() && !is_offsets(path)) {
      const std::size_t wanted = static_cast<std::size_t>(list_begin_at(most)) * item_size(path);
      if (names_.at(path)->bytes.size() > wanted && names_.at(path)->base <= wanted) truncate(path, wanted);
    }
  }
  close_writers(table);
}

void WriteModel::grow(const std::string& path, std::size_t entries) {
  const bool is_values = !list_of(path).empty() && !is_offsets(path);
  const std::size_t items = is_values          ? static_cast<std::size_t>(list_begin_at(entries))
                            : is_offsets(path) ? entries + 1
                                               : entries;
  const std::size_t wanted = items * item_size(path);
  const FilePtr file = names_.at(path);
  if (file->bytes.size() >= wanted) return;
  const auto opened = ask<FileSystem::Opened>([&](auto reply) { fs_->open_to_write(id_of(path), std::move(reply)); });
  need(opened, "open");
  handles_.push_back({opened->handle, file, path, true});
  ++file->writers;
  write(handles_.back(), file->bytes.size(), more_of(path, wanted - file->bytes.size()));
  close(handles_.size() - 1);
}

// A list has both files, or none.
void WriteModel::mend_lists(const std::string& table) {
  for (const std::string& path : paths(table)) {
    if (list_of(path).empty() || names_.contains(other_file(path)) || !names_.contains(path)) continue;
    dropped_.contains(other_file(path)) ? remove(path) : create(other_file(path));
  }
  for (const std::string& name : kLists) {  // a crash may have come before its directory was removed
    const std::string list = table + "/" + name;
    if (!names_.contains(list + "/offsets.i8") && is_there(list)) take(table, name, true);
  }
}

std::vector<std::string> WriteModel::paths(const std::string& table) const {
  std::vector<std::string> paths;
  for (const auto& [path, file] : names_) {
    if (table_of(path) == table) paths.push_back(path);
  }
  return paths;
}

// Nothing: an item is incomplete, or a list.
std::optional<std::size_t> WriteModel::entries(const std::string& path) const {
  const std::string& bytes = names_.at(path)->bytes;
  if (bytes.size() % item_size(path) != 0) return std::nullopt;
  const std::size_t items = bytes.size() / item_size(path);
  if (list_of(path).empty()) return items;
  if (!names_.contains(other_file(path))) return std::nullopt;
  if (!is_offsets(path)) return entries(other_file(path));
  if (items == 0) return std::nullopt;
  const std::string values = values_of(list_of(path));
  const auto end = static_cast<std::size_t>(list_begin_at(items - 1));
  return names_.at(values)->bytes.size() == end * item_size(values) ? std::optional(items - 1) : std::nullopt;
}

bool WriteModel::is_whole(const std::string& table, bool with_writers) const {
  const std::vector<std::string> all = paths(table);
  if (all.empty()) return false;
  const auto first = entries(all[0]);
  return first && std::ranges::all_of(all, [&](const std::string& path) {
           return is_column(path) && entries(path) == first && (with_writers || names_.at(path)->writers == 0);
         });
}

WriteModel::Sizes WriteModel::sizes(const std::string& table) const {
  Sizes sizes;
  for (const std::string& path : paths(table)) sizes[path] = names_.at(path)->bytes.size();
  return sizes;
}

void WriteModel::settle(const std::string& table) {
  committed_[table] = sizes(table);
  for (const std::string& path : paths(table)) {
    File& file = *names_.at(path);
    file.base = file.bytes.size();
    file.states = {file.bytes};
  }
}

void WriteModel::promise_all() {
  names_since_ = {names_};
  for (auto& [path, file] : names_) file->states = {file->bytes};
}

// ---- what is there

// The tables as the library reads the ROOT file.
std::map<std::string, WriteModel::Sizes> WriteModel::committed_sizes() const {
  std::map<std::string, Sizes> all;
  auto source = tfile::open_source((path_ / kFileName).string());
  if (!source && source.error().kind == ErrorKind::not_found) return all;
  expect(source.has_value(), "the ROOT file cannot be opened");
  const auto file = tfile::File::open(*std::move(source));
  expect(file.has_value(), "the ROOT file: " + (file ? "" : file.error().text));
  expect(!(*file)->recovered() && (*file)->warnings().empty(), "the ROOT file is not as it was closed");
  for (const tfile::KeyInfo& key : (*file)->root()->keys) {
    if (key.kind != tfile::KeyKind::table || all.contains(std::string(key.name))) continue;
    const auto table = (*file)->table(key);
    expect(table.has_value(), "a table: " + (table ? "" : table.error().text));
    auto sizes = sizes_in(**table);
    expect(sizes.has_value(), "a table: " + (sizes ? "" : sizes.error().text));
    all[std::string(key.name)] = *std::move(sizes);
  }
  return all;
}

// `must`: what is whole below the path was committed.
void WriteModel::see_commits(const std::string& below, bool must) {
  const bool asked = std::exchange(committing_, false);
  const bool is_due = clock_.now() - changed_ >= kCommit;
  const auto actual = committed_sizes();
  for (const std::string& table : kTables) {
    const auto found = actual.find(table);
    const bool is_meant = below.empty() || below == table;
    if (sees_table(table, found == actual.end() ? Sizes() : found->second, (asked && is_meant) || is_due,
                   must && is_meant))
      continue;
    std::string text = "the ROOT file has of " + table + ":";
    if (found != actual.end())
      for (const auto& [path, size] : found->second) text += " " + path + "=" + std::to_string(size);
    text += "; before:";
    for (const auto& [path, size] : committed_[table]) text += " " + path + "=" + std::to_string(size);
    text += "; staged:";
    for (const auto& [path, size] : sizes(table)) text += " " + path + "=" + std::to_string(size);
    expect(false, text + (is_whole(table, true) ? "; whole" : "; not whole"));
  }
}

bool WriteModel::sees_table(const std::string& table, const Sizes& actual, bool asked, bool must) {
  const auto kept = [&](Sizes sizes) {
    std::erase_if(sizes, [&](const auto& each) { return dropped_.contains(each.first); });
    return sizes;
  };
  const bool whole = is_whole(table, handles_.empty());
  const bool is_empty = std::ranges::all_of(sizes(table), [](const auto& each) { return each.second == 0; });
  const bool has_all = asked && whole && kept(actual) == sizes(table);
  if (!has_all && ((must && whole && !is_empty) || kept(actual) != kept(committed_[table]))) return false;
  if (has_all) settle(table);
  std::erase_if(dropped_, [&](const std::string& path) { return table_of(path) == table && !actual.contains(path); });
  committed_[table] = actual;
  return true;
}

std::string WriteModel::read(HandleId handle, std::size_t size) {
  const auto slices = ask<Slices>([&](auto reply) { fs_->read(handle, 0, size, std::move(reply)); });
  expect(slices.has_value(), "read: " + (slices ? "" : slices.error().text));
  std::string bytes(slices->size(), 0);
  copy_slices(*slices, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

std::optional<std::string> WriteModel::content(const std::string& path) {
  const auto found = fs_->find_path(mounted_path(path));
  if (!found) {
    if (disk_->has_stopped()) throw Stopped();
    expect(found.error().kind == ErrorKind::not_found, path + ": " + found.error().text);
    return std::nullopt;
  }
  const auto opened = ask<FileSystem::Opened>([&](auto reply) { fs_->open(found->id, std::move(reply)); });
  expect(opened.has_value(), "open of " + path + ": " + (opened ? "" : opened.error().text));
  std::string bytes = read(opened->handle, found->attributes.size + 100);
  fs_->release(opened->handle);
  expect(bytes.size() == found->attributes.size, path + ": has another size than stat says");
  return bytes;
}

// All of it costs more than most operations: else what one was about, something else, and what is open.
void WriteModel::check_some() {
  if (chance(10)) touched_.clear();
  if (touched_.empty()) return check_mount();
  touched_.insert(any_of(kTables) + "/" + any_of(kItems).first);
  for (const std::string& path : touched_) check(path);
  if (!handles_.empty()) check_handle(any_of(handles_));
}

void WriteModel::check_mount() {
  for (const std::string& table : kTables) {
    for (const auto& [name, item] : kItems) check(table + "/" + name);
  }
  for (const Handle& handle : handles_) check_handle(handle);
}

void WriteModel::check(const std::string& path) {
  const auto bytes = content(path);
  const auto known = names_.find(path);
  const bool there = known != names_.end();
  expect(bytes.has_value() == there, path + (there ? ": is not there" : ": is there"));
  if (there) expect(*bytes == known->second->bytes, path + ": has other bytes");
}

void WriteModel::check_handle(const Handle& handle) {
  const std::string& bytes = handle.file->bytes;
  expect(read(handle.id, bytes.size() + 100) == bytes, handle.path + ", opened before: has other bytes");
}

}  // namespace tfilefs
