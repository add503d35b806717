// SPDX-License-Identifier: Apache-2.0
#include "vfs/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <nlohmann/json.hpp>
#include <utility>

#include "control/readme.h"
#include "control/stats.h"
#include "staging/changes/left_journal.h"
#include "tfile/name.h"
#include "vfs/attributes_soon.h"
#include "vfs/blocking.h"
#include "vfs/chain.h"
#include "vfs/chain_directory.h"
#include "vfs/control_directory.h"
#include "vfs/dataset.h"
#include "vfs/expand_sources.h"
#include "vfs/far_tree.h"
#include "vfs/name_index.h"
#include "vfs/names.h"
#include "vfs/root_file_holder.h"
#include "vfs/source_tree.h"
#include "vfs/url_origin.h"
#include "vfs/written_file.h"
#include "vfs/xattr.h"

namespace tfilefs {

using tfile::fail;
using Clock = std::chrono::steady_clock;
using DirectoryPtr = std::shared_ptr<const Directory>;

namespace {

tl::unexpected<Error> friends_of_one(const std::string& name) {
  return fail(ErrorKind::invalid, name + ": friend= is for one file that is read, or for a chain");
}

bool may_be_far(const std::string& name) { return tfile::is_url(name) || name.starts_with('@'); }
bool may_be_far(const std::vector<NamedFriend>& friends) {
  return std::ranges::any_of(friends, [](const NamedFriend& each) { return may_be_far(each.source); });
}

tl::unexpected<Error> source_changed() { return fail(ErrorKind::stale, "the file has changed since it was opened"); }

// An error that users should be told of, unlike a normal negative answer.
bool is_trouble(const Error& error) {
  if (error.system_errno == ECANCELED) return false;  // given_up()
  if (is_refusal(error)) return true;
  switch (error.kind) {
    case ErrorKind::damaged:
    case ErrorKind::unsupported:
    case ErrorKind::io:
    case ErrorKind::timed_out:
      return true;
    default:
      return false;
  }
}

// For a request that needs the file to stay unchanged meanwhile. A job that saves the file between two tries is rare; a
// job that writes its next basket is not.
constexpr int kTries = 4;

// Jobs that wait for a server must leave room for others.
constexpr unsigned kFarJobs = 64;

// Staged data may take half of the memory, since reading goes on meanwhile.
std::unique_ptr<Writing> make_writing(const FileSystemOptions& options, ClusterCache& cache, ErrorLog& errors) {
  if (!options.write) return nullptr;
  return std::unique_ptr<Writing>(new Writing{
      *options.write, StagingMemory(cache.budget(), options.cache.memory / 2, cache.exec().lanes), cache, errors});
}

// Whether a server may say this because the URL is that of a directory.
bool may_be_directory(const Error& error) {
  switch (error.kind) {
    case ErrorKind::damaged:  // a page that shows it
    case ErrorKind::unsupported:
    case ErrorKind::not_found:
    case ErrorKind::denied:
    case ErrorKind::invalid:
      return true;
    default:
      return false;
  }
}

template <class T>
T wait_for(std::future<T> answer) {
  return answer.get();
}

}  // namespace

tl::unexpected<Error> FileSystem::unknown_inode() { return fail(ErrorKind::stale, "unknown inode", -1, ESTALE); }
tl::unexpected<Error> FileSystem::bad_handle() { return fail(ErrorKind::invalid, "unknown handle", -1, EBADF); }

// ---- construction

FileSystem::FileSystem(std::unique_ptr<ClusterCache> cache, const FileSystemOptions& options)
    : cache_(std::move(cache)), writing_(make_writing(options, *cache_, errors_)), context_{*cache_,
                                                                                            errors_,
                                                                                            options.ownership,
                                                                                            options.views_listed,
                                                                                            options.strings,
                                                                                            writing_.get(),
                                                                                            options.is_shared} {
  // Files that show which paths are in use are closed to other users.
  const bool closed = options.is_shared;
  control_.holder = make_control_directory({{"README", [] { return readme_text(); }},
                                            {"config.json", [text = options.config_json] { return text; }},
                                            {"errors", [this] { return errors_.text(); }, nullptr, closed},
                                            {"metrics", [this] { return metrics(); }, nullptr, closed},
                                            {"pending.json", nullptr, nullptr, closed,
                                             [this](Reply<std::string> reply) {
                                               answer_blocking(
                                                   *cache_, [this] { return pending_json(); }, std::move(reply));
                                             }},
                                            {"stats.json", [this] { return stats_json(); }, nullptr, closed}},
                                           options.ownership, [this](Reply<void> reply) {
                                             answer_committing(
                                                 *cache_, this, [this] { return commit_all(); }, std::move(reply));
                                           });
}

FileSystem::FileSystem(std::unique_ptr<ClusterCache> cache, std::unique_ptr<const Origin> origin,
                       const FileSystemOptions& options)
    : FileSystem(std::move(cache), options) {
  auto file = std::make_shared<MountedFile>(context_, std::move(origin), "");
  inodes_ = std::make_unique<InodeTable>(Entry{std::make_shared<const RootFileHolder>(context_, std::move(file)), {}});
}

// All owners of files must be destroyed before the cache that the files use.
FileSystem::~FileSystem() {
  end();
  inodes_.reset();
  tree_.reset();
  written_.reset();
  far_tree_.reset();
  far_file_.reset();
  chains_.clear();
  context_.friends.clear();
  context_.recent.clear();
  cache_.reset();
}

Result<std::unique_ptr<FileSystem>> FileSystem::open(const std::string& source, const FileSystemOptions& options,
                                                     std::string hidden) {
  if (tfile::is_url(source)) return open_url(source, options);
  struct stat status {};
  const bool there = ::stat(source.c_str(), &status) == 0;
  if (!there && !(options.write && errno == ENOENT)) {
    const int number = errno;
    return fail(number == ENOENT ? ErrorKind::not_found : ErrorKind::io, source + ": " + std::strerror(number), -1,
                number);
  }
  const bool mirrors = there && S_ISDIR(status.st_mode);
  if ((mirrors || options.write) && !options.friends.empty()) return friends_of_one(source);
  CacheOptions cache = options.cache;
  if (may_be_far(options.friends)) cache.job_threads = std::max(cache.job_threads, kFarJobs);
  std::unique_ptr<FileSystem> fs(new FileSystem(std::make_unique<ClusterCache>(cache), options));
  TRY(fs->context_.friends, fs->open_friends(options.friends, ChainOptions(), options.far));
  if (mirrors) {
    TRY_VOID(fs->show_directory(source, std::move(hidden)));
  } else if (auto shown = fs->show_file(source, there); !shown) {
    Error error = std::move(shown).error();
    if (!error.text.starts_with(source)) error.text = source + ": " + error.text;
    return tl::unexpected(std::move(error));
  }
  const std::string directory = mirrors ? source : source.substr(0, source.rfind('/') + 1);
  fs->space_of_ = std::make_shared<const Descriptor>(
      ::open(directory.empty() ? "." : directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return fs;
}

// Each is opened, so that what is wrong with it is said at once.
Result<std::vector<FriendSource>> FileSystem::open_friends(const std::vector<NamedFriend>& named, ChainOptions chain,
                                                           tfile::FarOptions far) {
  far.stop = end_of_requests_.get_token();
  chain.index.clear();
  std::vector<FriendSource> sources;
  for (const NamedFriend& each : named) {
    const std::string path = std::string(kFriendsName) + "/" + each.alias;
    auto place = make_named_place(context_, std::vector<std::string>{each.source}, far);
    sources.push_back({each.alias, std::make_shared<Chain>(context_, std::move(place), chain, path), each.key});
    if (auto opened = open_now(*sources.back().chain); !opened) {
      Error error = std::move(opened).error();
      error.text = "friend " + each.alias + ": " + error.text;
      return tl::unexpected(std::move(error));
    }
  }
  return sources;
}

Result<> FileSystem::show_directory(const std::string& source, std::string hidden) {
  TRY(tree_, SourceTree::open(context_, source, std::move(hidden)));
  inodes_ = std::make_unique<InodeTable>(Entry{tree_->root(), {}});
  if (writing_) run_job(*cache_, [tree = tree_] { tree->take_over_journals(); });
  return {};
}

// `there`: the file exists; if not, it is to be made, which needs a writable mount.
Result<> FileSystem::show_file(const std::string& source, bool there) {
  TRY(auto origin, make_path_origin(source));
  auto file = std::make_shared<MountedFile>(context_, std::move(origin), "");
  if (writing_) {
    TRY(FilePlace place, place_of(source));
    TRY(written_, open_written(context_, file, std::move(place), ""));
  } else if (auto place = place_of(source)) {
    run_job(*cache_, [this, place = std::make_shared<const FilePlace>(*std::move(place))] {
      if (const auto left = left_in_journal(*place); left && *left) errors_.add("/", **left);
    });
  }
  const auto root = written_ ? written_->root() : std::make_shared<const RootFileHolder>(context_, file);
  inodes_ = std::make_unique<InodeTable>(Entry{root, {}});
  return there ? open_now(*file) : Result<>();
}

Result<std::unique_ptr<FileSystem>> FileSystem::open_url(const std::string& url, FileSystemOptions options) {
  const std::string name = tfile::shown_name(url);
  if (options.write) return fail(ErrorKind::invalid, name + ": only local files can be written, and this is a URL");
  options.cache.job_threads = std::max(options.cache.job_threads, kFarJobs);
  std::unique_ptr<FileSystem> fs(new FileSystem(std::make_unique<ClusterCache>(options.cache), options));
  TRY(fs->context_.friends, fs->open_friends(options.friends, ChainOptions(), options.far));
  if (auto shown = fs->show_url(url, options.far); !shown) {
    Error error = std::move(shown).error();
    if (!error.text.starts_with(name)) error.text = name + ": " + error.text;
    return tl::unexpected(std::move(error));
  }
  if (fs->far_tree_ && !options.friends.empty()) return friends_of_one(name);
  return fs;
}

Result<> FileSystem::show_url(const std::string& url, tfile::FarOptions options) {
  options.stop = end_of_requests_.get_token();
  const tfile::UrlParts parts = tfile::url_parts(url);
  if (has_pattern(parts.path)) {
    TRY(const std::vector<std::string> found, expand_sources(url, options));
    TRY(FarPattern pattern, far_pattern(url));
    if (found != std::vector{url}) return show_far_directory(pattern.directory, options, std::move(pattern.shown));
  }
  if (parts.path.empty() || parts.path.ends_with('/')) return show_far_directory(url, options, {});
  auto shown = show_far_file(url, options);
  if (shown || parts.path.ends_with(".root") || !may_be_directory(shown.error())) return shown;
  // What the server says against a file is said of a directory, too, if that is what it is.
  return show_far_directory(url, options, {}) ? Result<>() : shown;
}

Result<> FileSystem::show_far_file(const std::string& url, const tfile::FarOptions& options) {
  far_file_ = std::make_shared<MountedFile>(context_, make_url_origin(url, options), "");
  inodes_ = std::make_unique<InodeTable>(Entry{std::make_shared<const RootFileHolder>(context_, far_file_), {}});
  return open_now(*far_file_);
}

Result<std::unique_ptr<FileSystem>> FileSystem::open_chain(std::vector<std::string> names, const ChainOptions& chain,
                                                           FileSystemOptions options) {
  if (options.write) return fail(ErrorKind::invalid, "a chain cannot be written");
  const bool is_far = std::ranges::any_of(names, [](const std::string& name) { return may_be_far(name); });
  if (is_far || may_be_far(options.friends)) options.cache.job_threads = std::max(options.cache.job_threads, kFarJobs);
  std::unique_ptr<FileSystem> fs(new FileSystem(std::make_unique<ClusterCache>(options.cache), options));
  options.far.stop = fs->end_of_requests_.get_token();
  TRY(std::vector<FriendSource> friends, fs->open_friends(options.friends, chain, options.far));
  TRY_VOID(fs->show_chains(std::move(names), chain, options.far, std::move(friends)));
  for (const auto& each : fs->chains_) {
    TRY_VOID(fs->open_now(*each));
    each->save();
  }
  return fs;
}

// A dataset has a chain for each of its samples.
Result<> FileSystem::show_chains(std::vector<std::string> names, const ChainOptions& chain,
                                 const tfile::FarOptions& far, std::vector<FriendSource> friends) {
  const bool is_of_samples = names.size() == 1 && is_dataset(names[0]);
  if (!is_of_samples) {
    chains_.push_back(std::make_shared<Chain>(context_, make_named_place(context_, std::move(names), far), chain, "",
                                              ChainAbout(), std::move(friends)));
    inodes_ = std::make_unique<InodeTable>(Entry{make_chain_root(chains_[0]), {}});
    return {};
  }
  TRY(Dataset dataset, read_dataset(names[0].substr(1)));
  for (Dataset::Friend& named : dataset.friends) {
    const std::string alias = tfile::escape_name(named.alias);
    friends.push_back({alias,
                       std::make_shared<Chain>(context_, make_named_place(context_, std::move(named.files), far),
                                               ChainOptions{chain.policy, chain.skips_missing, ""},
                                               std::string(kFriendsName) + "/" + alias),
                       std::nullopt});
  }
  std::vector<DatasetSample>& samples = dataset.samples;
  std::vector<std::string_view> originals;
  for (const DatasetSample& sample : samples) originals.push_back(sample.name);
  const std::vector<std::string> shown = tfile::directory_names(originals);
  NamedRoots roots;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    ChainOptions options = chain;
    if (!options.index.empty()) options.index += "-" + shown[i];
    chains_.push_back(std::make_shared<Chain>(context_, make_named_place(context_, std::move(samples[i].files), far),
                                              std::move(options), shown[i],
                                              ChainAbout{samples[i].metadata, samples[i].attributes}, friends));
    for (FriendSource& source : friends) source.before.push_back(chains_.back());
    roots.emplace_back(shown[i], chains_.back());
  }
  inodes_ = std::make_unique<InodeTable>(Entry{make_chains_root(std::move(roots)), {}});
  return {};
}

Result<> FileSystem::show_far_directory(const std::string& url, const tfile::FarOptions& options, PathPattern shown) {
  far_tree_ = std::make_shared<FarTree>(context_, url, options, std::move(shown));
  std::promise<Result<FarTree::ListingPtr>> listed;
  far_tree_->list("", [&](Result<FarTree::ListingPtr> now) { listed.set_value(std::move(now)); });
  TRY_VOID(wait_for(listed.get_future()));
  inodes_ = std::make_unique<InodeTable>(Entry{far_tree_->root(), {}});
  far_file_.reset();
  return {};
}

Result<> FileSystem::open_now(Chain& chain) {
  std::promise<Result<ChainStatePtr>> opened;
  chain.current(Freshness::now, [&](Result<ChainStatePtr> now) { opened.set_value(std::move(now)); });
  TRY_VOID(wait_for(opened.get_future()));
  return {};
}

Result<> FileSystem::open_now(MountedFile& file) {
  std::promise<Result<GenerationPtr>> opened;
  file.current(Freshness::now, [&](Result<GenerationPtr> now) { opened.set_value(std::move(now)); });
  TRY_VOID(wait_for(opened.get_future()));
  return {};
}

Result<> FileSystem::make_source() {
  if (!written_ || written_->staged().is_wanted()) return {};
  return written_->staged().make(process_owner());
}

std::vector<std::shared_ptr<WrittenFile>> FileSystem::written_files() const {
  std::vector<std::shared_ptr<WrittenFile>> files;
  if (tree_) files = tree_->written_files();
  if (written_) files.push_back(written_);
  return files;
}

std::vector<std::string> FileSystem::finish_writing() {
  std::vector<std::string> left;
  for (const auto& file : written_files()) {
    file->staged().stop();
    for (const auto& [path, reason] : file->staged().pending()) left.push_back(path + ": " + reason);
  }
  return left;
}

Result<> FileSystem::commit_all() {
  Result<> done;
  for (const auto& file : written_files()) {
    auto committed = file->staged().commit(file->staged().root());
    if (done) done = std::move(committed);
  }
  return done;
}

std::vector<StagedFile::Unkept> FileSystem::unkept() const {
  std::vector<StagedFile::Unkept> files;
  for (const auto& file : written_files()) {
    for (const auto& [path, is_written] : file->staged().unkept()) files.push_back({"/" + path, is_written});
  }
  return files;
}

bool FileSystem::may_end() {
  (void)commit_all();
  const auto files = unkept();
  for (const auto& file : files)
    errors_.add(file.path, "neither in its file nor in the journal: not unmounted, though idle");
  return files.empty();
}

// Files are committed first while requests are still answered. Then what these requests have opened in the meantime,
// such as a journal that was just taken over, is committed when there are no more requests.
std::vector<std::string> FileSystem::end() {
  files_.clear();  // including those that are open for writing
  finish_writing();
  for (const auto& chain : chains_) chain->save();
  end_of_requests_.request_stop();
  cache_->settle();
  alarms_.stop();
  files_.clear();
  finish_writing();
  std::vector<std::string> lost;
  for (auto& file : unkept()) lost.push_back(std::move(file.path));
  return lost;
}

// For `tfilefs umount`: progress, what could not be committed when last tried, and what is kept nowhere.
Result<std::string> FileSystem::pending_json() const {
  nlohmann::json json = {{"tfilefs", 1}, {"left", 0}};
  for (const char* list : {"pending", "unkept", "written", "reasons"}) json[list] = nlohmann::json::array();
  for (const auto& [path, is_written] : unkept()) json[is_written ? "written" : "unkept"].push_back(path);
  const auto add = [&](const std::string& path, const std::string& reason) {
    json["pending"].push_back(path + ": " + reason);
    json["reasons"].push_back({{"path", path}, {"reason", reason}});
  };
  std::uint64_t left = 0;
  for (const auto& file : written_files()) {
    left += file->staged().bytes_left();
    for (const auto& [path, reason] : file->staged().pending()) add(path, reason);
  }
  if (tree_) {
    for (const auto& [path, reason] : tree_->refused_journals()) add("/" + path, reason);
  }
  json["left"] = left;
  return json.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

// ---- from inodes to entries

InodePtr FileSystem::known(InodeId id) {
  last_request_.store(Clock::now(), std::memory_order_relaxed);
  return inodes_->find(id);
}

void FileSystem::note(const Inode& inode, std::string_view below, const Error& error) {
  // The source itself existed when it was mounted, so its loss is trouble.
  const bool lost_source = inode.id == kRootId && below.empty() && error.kind == ErrorKind::not_found;
  if (!is_trouble(error) && !lost_source) return;
  std::string path = path_of(inode);
  if (!below.empty()) path += (path == "/" ? "" : "/") + std::string(below);
  errors_.add(path, error);
}

// The entry at the inode's path in the current generation. For a file of an older generation, or anything in a
// directory that was moved, the answer is ESTALE: the kernel then walks the path again and finds the new one.
void FileSystem::fresh_entry(InodePtr inode, Freshness freshness, Reply<Entry> reply) {
  if (inodes_->has_left(*inode)) return reply(source_changed());
  Entry entry = inodes_->entry(*inode);
  const GenerationPtr generation = entry.holder->generation();
  if (!generation) return reply(std::move(entry));
  generation->owner->current(freshness, [this, inode = std::move(inode), entry = std::move(entry), generation,
                                         reply = std::move(reply)](Result<GenerationPtr> now) mutable {
    if (!now) return reply(tl::unexpected(std::move(now).error()));
    if (*now == generation) return reply(std::move(entry));
    if (inode->state.is_file) return reply(source_changed());
    resolve_again(std::move(inode), std::move(reply));
  });
}

void FileSystem::resolve_again(InodePtr inode, Reply<Entry> reply) {
  InodePtr parent = inode->parent;
  directory_of(parent, Freshness::recent,
               [this, inode = std::move(inode), reply = std::move(reply)](Result<DirectoryPtr> directory) mutable {
                 if (!directory) return reply(tl::unexpected(std::move(directory).error()));
                 const Directory& in = **directory;
                 const std::string& name = inode->name;
                 in.find(name, [this, inode, reply = std::move(reply)](Result<FoundEntry> found) mutable {
                   if (!found && found.error().kind == ErrorKind::not_found) return reply(source_changed());
                   if (!found) return reply(tl::unexpected(std::move(found).error()));
                   inodes_->set_entry(*inode, found->entry);
                   reply(std::move(found->entry));
                 });
               });
}

void FileSystem::directory_of(InodePtr inode, Freshness freshness, Reply<DirectoryPtr> reply) {
  fresh_entry(inode, freshness, [this, inode, freshness, reply = std::move(reply)](Result<Entry> entry) mutable {
    if (!entry) return reply(tl::unexpected(std::move(entry).error()));
    Reply<DirectoryPtr> keep([this, inode, reply = std::move(reply)](Result<DirectoryPtr> entered) mutable {
      if (entered) inodes_->keep(*inode, *entered);
      reply(std::move(entered));
    });
    const Holder& holder = *entry->holder;
    if (!holder.generation()) return holder.enter(entry->held, freshness, std::move(keep));
    inodes_->directory_once(*inode)->get(
        [&](Reply<DirectoryPtr> made) { holder.enter(entry->held, freshness, std::move(made)); }, std::move(keep));
  });
}

void FileSystem::find_in(const InodePtr& parent, std::string_view name, const CallerPtr& by, Reply<FoundEntry> reply) {
  if (parent->id == kRootId && name == kControlName) return reply(FoundEntry{control_, {}});
  Reply<DirectoryPtr> find(
      [name = std::string(name), reply = std::move(reply)](Result<DirectoryPtr> directory) mutable {
        if (!directory) return reply(tl::unexpected(std::move(directory).error()));
        (*directory)->find(name, std::move(reply));
      });
  directory_of(parent, Freshness::recent, [by, find = std::move(find)](Result<DirectoryPtr> directory) mutable {
    if (!directory) return find(std::move(directory));
    admitted(*std::move(directory), Access::read, by, std::move(find));
  });
}

// The current entry of an inode, as the caller may use it.
void FileSystem::entry_for(InodePtr inode, Access access, const CallerPtr& by, Reply<Entry> reply) {
  fresh_entry(std::move(inode), Freshness::recent, [access, by, reply = std::move(reply)](Result<Entry> entry) mutable {
    if (!entry) return reply(std::move(entry));
    admitted(*std::move(entry), access, by, std::move(reply));
  });
}

// ---- names and attributes

InodeId FileSystem::refer(const InodePtr& parent, std::string_view name, std::string_view own_name, const Entry& entry,
                          Attributes& attributes) {
  Inode::State state;
  state.is_file = !S_ISDIR(attributes.mode);
  if (state.is_file) {
    const GenerationPtr& generation = entry.holder->generation();
    state.which = generation ? generation->serial : entry.holder->file_identity();
    state.moves = !generation && entry.holder->keeps_inode();
  } else {
    state.which = name == own_name ? parent->state.which : hash_of_name(name);
  }
  const auto [id, number] = inodes_->refer(parent, own_name, entry, state);
  attributes.number = number;
  return id;
}

void FileSystem::lookup(InodeId parent_id, std::string_view name, Reply<Found> reply, const CallerPtr& by,
                        Sizes sizes) {
  const InodePtr parent = known(parent_id);
  if (!parent) return reply(unknown_inode());
  if (is_too_long(*parent, name)) return reply(fail(ErrorKind::invalid, "name too long", -1, ENAMETOOLONG));
  look_up({parent, std::string(name), by, sizes}, kTries, std::move(reply));
}

void FileSystem::lookup_on(pid_t thread, InodeId parent, std::string_view name, Reply<Found> reply,
                           const CallerPtr& by) {
  if (!retries_.awaits(thread)) return lookup(parent, name, std::move(reply), by, Sizes::soon);
  const std::stop_token asker = reply.asker();
  auto told = [this, thread, reply = std::move(reply)](Result<Found> found) mutable {
    retries_.renew(thread);
    reply(std::move(found));
  };
  lookup(parent, name, Reply<Found>(std::move(told), asker), by, Sizes::exact);
}

// If the file changes while it is opened or a table is read, the look-up is tried again: it concerns no open handle, so
// the new state is a correct answer.
void FileSystem::look_up(const Sought& sought, int tries, Reply<Found> reply) {
  const std::stop_token asker = reply.asker();
  const GenerationPtr before = generation_of(*sought.parent);
  auto judged = [this, sought, tries, before, reply = std::move(reply)](Result<Found> found) mutable {
    if (found) return reply(std::move(found));
    judge(before ? before : generation_of(*sought.parent), found.error(),
          [this, sought, tries, reply = std::move(reply)](Result<Error> error) mutable {
            if (error->kind == ErrorKind::stale && tries > 1) return look_up(sought, tries - 1, std::move(reply));
            note(*sought.parent, sought.name, *error);
            reply(tl::unexpected(*std::move(error)));
          });
  };
  auto find = [this, sought, told = Reply<Found>(std::move(judged), asker)](Result<FoundEntry> at) mutable {
    finish_found(sought, std::move(at), std::move(told));
  };
  find_in(sought.parent, sought.name, sought.by, std::move(find));
}

// Decides whether an error of damage only means that the file is being changed. If so, the error becomes stale, and the
// generation is given up. An error that was stale before says nothing about the generation: a commit may have replaced
// the entry, and readers of the generation go on.
void FileSystem::judge(const GenerationPtr& generation, const Error& error, Reply<Error> reply) {
  if (error.kind != ErrorKind::damaged || !generation) return reply(error);
  auto job = [generation, error]() -> Result<Error> {
    if (!generation->source->is_changing()) return error;
    generation->source->set_stale();
    return Error{ErrorKind::stale, error.text, error.offset, 0, error.source};
  };
  answer_blocking(*cache_, std::move(job), std::move(reply));
}

// The inode's entry is the same for all callers; the attributes are those that this caller may see.
void FileSystem::finish_found(const Sought& sought, Result<FoundEntry> at, Reply<Found> reply) {
  if (!at) return reply(tl::unexpected(std::move(at).error()));
  std::string own_name = at->own_name.empty() ? sought.name : std::move(at->own_name);
  const Entry entry = at->entry;
  const std::stop_token asker = reply.asker();
  auto told = [this, entry, sought, own_name = std::move(own_name), same_for_all = at->same_for_all,
               reply = std::move(reply)](Result<Attributes> attributes) mutable {
    if (!attributes) return reply(tl::unexpected(std::move(attributes).error()));
    attributes->same_for_all = !context_.is_shared || (same_for_all && entry.holder->is_same_for_all(entry.held));
    const InodeId id = refer(sought.parent, sought.name, own_name, entry, *attributes);
    if (!attributes->size_is_known) inodes_->find(id)->is_size_untold = true;
    reply(Found{id, *attributes});
  };
  Reply<Attributes> finish(std::move(told), asker);
  admitted(entry, Access::status, sought.by,
           [this, sizes = sought.sizes, finish = std::move(finish)](Result<Entry> own) mutable {
             if (!own) return finish(tl::unexpected(std::move(own).error()));
             if (sizes == Sizes::soon) return attributes_soon(alarms_, *own, std::move(finish));
             own->holder->attributes(own->held, std::move(finish));
           });
}

void FileSystem::note_size_told(InodeId id) {
  if (const InodePtr inode = inodes_->find(id)) inode->is_size_untold = false;
}

GenerationPtr FileSystem::generation_of(Inode& directory) {
  if (GenerationPtr generation = inodes_->entry(directory).holder->latest_generation()) return generation;
  const DirectoryPtr kept = inodes_->kept(directory);
  return kept ? kept->generation() : nullptr;
}

void FileSystem::forget(InodeId id, std::uint64_t times) { inodes_->forget(id, times); }

std::shared_ptr<const Holder> FileSystem::open_holder(HandleId handle) const {
  const auto file = handle != 0 ? files_.find(handle) : nullptr;
  return file ? file->content.own : nullptr;
}

namespace {

Reply<Entry> attributes_of(Reply<Attributes> reply) {
  const std::stop_token asker = reply.asker();
  auto ask = [reply = std::move(reply)](Result<Entry> entry) mutable {
    if (!entry) return reply(tl::unexpected(std::move(entry).error()));
    const std::shared_ptr<const Holder> holder = entry->holder;
    holder->attributes(entry->held, std::move(reply));
  };
  return Reply<Entry>(std::move(ask), asker);
}

}  // namespace

namespace {
bool is_far(const Generation& generation) {
  return generation.source->traits().starts_reads && !generation.source->is_stale();
}
}  // namespace

void FileSystem::getattr(InodeId id, Reply<Attributes> reply, const CallerPtr& by, HandleId open) {
  InodePtr inode = known(id);
  if (!inode) return reply(unknown_inode());
  const std::stop_token asker = reply.asker();
  auto tell_kernel = [this, inode, of = inodes_->entry(*inode).holder->latest_generation(),
                      reply = std::move(reply)](Result<Attributes> attributes) mutable {
    if (!attributes) return tell(inode, of, attributes.error(), std::move(reply));
    attributes->number = inode->number;
    reply(std::move(attributes));
  };
  Reply<Attributes> told(std::move(tell_kernel), asker);
  if (const auto holder = open_holder(open)) return holder->attributes({}, std::move(told));
  // For a file that was removed or moved while open, the open file is asked. A file that a commit has replaced keeps
  // its attributes from when it was opened: the kernel asks for the size when a reader comes to the end, and does not
  // tell the handle of an fstat(2).
  const CallerPtr caller = open != 0 ? nullptr : by;
  const Entry seen = inodes_->entry(*inode);
  if (const GenerationPtr generation = seen.holder->generation(); open != 0 && generation && is_far(*generation)) {
    // The kernel asks before it reads. What is in the cache does not wait for a server: a change that the look finds is
    // told by the next read.
    generation->owner->current(Freshness::recent, [](Result<GenerationPtr>) {});
    return admitted(seen, Access::status, caller, attributes_of(std::move(told)));
  }
  auto find = [this, inode, caller, told = std::move(told)](Result<Attributes> attributes) mutable {
    if (!attributes && attributes.error().kind == ErrorKind::not_found) attributes = source_changed();
    if (attributes || attributes.error().kind != ErrorKind::stale) return told(std::move(attributes));
    if (const auto holder = files_.own_of(*inode)) return holder->attributes({}, std::move(told));
    const Entry as_opened = inodes_->entry(*inode);
    const GenerationPtr generation = as_opened.holder->generation();
    const bool is_readable = generation && !generation->source->is_stale() && files_.is_open(*inode);
    if (!is_readable) return told(std::move(attributes));
    admitted(as_opened, Access::status, caller, attributes_of(std::move(told)));
  };
  Reply<Attributes> found(std::move(find), asker);
  entry_for(inode, Access::status, caller, attributes_of(std::move(found)));
}

void FileSystem::readlink(InodeId id, Reply<std::string> reply, const CallerPtr& by) {
  const InodePtr inode = known(id);
  if (!inode) return reply(unknown_inode());
  admitted(inodes_->entry(*inode), Access::status, by, [reply = std::move(reply)](Result<Entry> entry) mutable {
    if (!entry) return reply(tl::unexpected(std::move(entry).error()));
    entry->holder->read_link(entry->held, std::move(reply));
  });
}

// ---- files

void FileSystem::open(InodeId id, Reply<Opened> reply, const CallerPtr& by, pid_t thread) {
  open_content(id, Access::read, &Holder::open, by, thread, std::move(reply));
}
void FileSystem::open_to_write(InodeId id, Reply<Opened> reply, const CallerPtr& by, pid_t thread) {
  open_content(id, Access::write, &Holder::open_to_write, by, thread, std::move(reply));
}
void FileSystem::open_only_to_write(InodeId id, Reply<Opened> reply, const CallerPtr& by, pid_t thread) {
  open_content(id, Access::write, &Holder::open_only_to_write, by, thread, std::move(reply));
}

// The current entry; or, if this is the kernel's second try of one call, the entry that it has just looked up.
void FileSystem::entry_to_open(const InodePtr& inode, bool comes_back, Reply<Entry> reply) {
  Entry entry = inodes_->entry(*inode);
  // A staged file has one state only.
  if (entry.holder->generation() && comes_back) return reply(std::move(entry));
  fresh_entry(inode, Freshness::now, std::move(reply));
}

void FileSystem::open_content(InodeId id, Access access, OpenFunction open_it, const CallerPtr& by, pid_t thread,
                              Reply<Opened> reply) {
  InodePtr inode = known(id);
  if (!inode) return reply(unknown_inode());
  const GenerationPtr found = inodes_->entry(*inode).holder->generation();
  const bool comes_back = retries_.take(thread, inode->number, found ? found->serial : 0);
  const std::stop_token opener = reply.asker();
  auto expect = [this, inode, thread, reply = std::move(reply)](Result<Opened> opened) mutable {
    if (!opened && opened.error().kind == ErrorKind::stale) {
      const GenerationPtr of = inodes_->entry(*inode).holder->latest_generation();
      const GenerationPtr now = of ? of->owner->known() : nullptr;
      retries_.expect(thread, inode->number, now ? now->serial : 0);
    }
    reply(std::move(opened));
  };
  Reply<Opened> told(std::move(expect), opener);
  Reply<Entry> open([this, inode, open_it, comes_back, reply = std::move(told)](Result<Entry> entry) mutable {
    if (!entry) {
      note(*inode, "", entry.error());
      return reply(tl::unexpected(std::move(entry).error()));
    }
    const std::shared_ptr<const Holder> holder = entry->holder;
    const std::stop_token asker = reply.asker();
    auto opened_as = [this, inode, comes_back, of = holder->generation(),
                      reply = std::move(reply)](Result<OpenedContent> opened) mutable {
      if (!opened) return tell(inode, of, opened.error(), std::move(reply));
      if (inode->is_size_untold && !comes_back) return reply(fail(ErrorKind::stale, "its size was not told"));
      finish_open(inode, *std::move(opened), std::move(reply));
    };
    Reply<OpenedContent> finish(std::move(opened_as), asker);
    ((*holder).*open_it)(entry->held, std::move(finish));
  });
  entry_to_open(inode, comes_back, [access, by, open = std::move(open)](Result<Entry> entry) mutable {
    if (!entry) return open(std::move(entry));
    admitted(*std::move(entry), access, by, std::move(open));
  });
}

template <class T>
void FileSystem::tell(const InodePtr& inode, const GenerationPtr& generation, const Error& error, Reply<T> reply) {
  const GenerationPtr of = generation ? generation : inodes_->entry(*inode).holder->latest_generation();
  judge(of, error, [this, inode, reply = std::move(reply)](Result<Error> judged) mutable {
    note(*inode, "", *judged);
    reply(tl::unexpected(*std::move(judged)));
  });
}

void FileSystem::finish_open(const InodePtr& inode, OpenedContent content, Reply<Opened> reply) {
  if (content.identity != 0) inodes_->adopt(inode, content.identity);
  Opened opened;
  opened.direct = !content.cacheable;
  opened.grows = content.grows;
  if (content.cacheable) {
    constexpr int kSerialBits = 40;
    const std::uint64_t version = (content.generation ? content.generation->serial : content.version) ^
                                  (content.content->making() << kSerialBits);
    const std::uint64_t before = inodes_->exchange_version(*inode, version);
    opened.changed = before != 0 && before != version;
    opened.keep_cache = !opened.changed;
  }
  OpenFile file;
  file.inode = inode;
  file.content = std::move(content);
  opened.handle = files_.add(std::move(file));
  reply(opened);
}

void FileSystem::read(HandleId handle, std::uint64_t offset, std::size_t size, Reply<Slices> reply) {
  last_request_.store(Clock::now(), std::memory_order_relaxed);
  std::shared_ptr<const OpenFile> file = files_.find(handle);
  if (!file || !file->content.content) return reply(bad_handle());
  const GenerationPtr& generation = file->content.generation;
  if (generation && generation->source->is_stale()) return reply(source_changed());
  if (auto late = timed_out_reads_.find(handle, offset, size)) return reply(tl::unexpected(*std::move(late)));
  Content& content = *file->content.content;
  content.read(
      offset, size,
      [this, handle, offset, size, file = std::move(file), reply = std::move(reply)](Result<Slices> slices) mutable {
        if (slices) return reply(std::move(slices));
        if (slices.error().kind == ErrorKind::timed_out) timed_out_reads_.note(handle, offset, size, slices.error());
        tell(file->inode, file->content.generation, slices.error(), std::move(reply));
      });
}

void FileSystem::release(HandleId handle) {
  last_request_.store(Clock::now(), std::memory_order_relaxed);
  files_.remove(handle);
  timed_out_reads_.forget(handle);
}

// ---- directories

void FileSystem::opendir(InodeId id, Reply<HandleId> reply, const CallerPtr& by) {
  const InodePtr inode = known(id);
  if (!inode) return reply(unknown_inode());
  open_directory(inode, kTries, by, std::move(reply));
}

void FileSystem::open_directory(const InodePtr& inode, int tries, const CallerPtr& by, Reply<HandleId> reply) {
  const GenerationPtr before = generation_of(*inode);
  list_directory(inode, by, [this, inode, tries, by, before, reply = std::move(reply)](Result<OpenFile> open) mutable {
    if (open) return reply(files_.add(*std::move(open)));
    judge(before ? before : generation_of(*inode), open.error(),
          [this, inode, tries, by, reply = std::move(reply)](Result<Error> error) mutable {
            if (error->kind == ErrorKind::stale && tries > 1)
              return open_directory(inode, tries - 1, by, std::move(reply));
            note(*inode, "", *error);
            reply(tl::unexpected(*std::move(error)));
          });
  });
}

void FileSystem::list_directory(const InodePtr& inode, const CallerPtr& by, Reply<OpenFile> reply) {
  Reply<DirectoryPtr> list([inode, reply = std::move(reply)](Result<DirectoryPtr> directory) mutable {
    if (!directory) return reply(tl::unexpected(std::move(directory).error()));
    const Directory& listed = **directory;
    listed.list([inode, directory = *directory,
                 reply = std::move(reply)](Result<std::shared_ptr<const Listing>> listing) mutable {
      if (!listing) return reply(tl::unexpected(std::move(listing).error()));
      OpenFile open;
      open.inode = std::move(inode);
      open.directory = std::move(directory);
      open.listing = *std::move(listing);
      reply(std::move(open));
    });
  });
  directory_of(inode, Freshness::now, [by, list = std::move(list)](Result<DirectoryPtr> directory) mutable {
    if (!directory) return list(std::move(directory));
    admitted(*std::move(directory), Access::read, by, std::move(list));
  });
}

void FileSystem::readdir(HandleId handle, std::uint64_t offset, bool full, std::shared_ptr<DirectorySink> sink,
                         Reply<void> reply) {
  const auto open = files_.find(handle);
  if (!open || !open->listing) return reply(bad_handle());
  if (offset != 0 || !open->listing_used) {
    if (!open->listing_used) {
      OpenFile used = *open;
      used.listing_used = true;
      files_.replace(handle, std::move(used));
    }
    fill(*open, offset, full, *sink);
    return reply({});
  }
  // rewinddir(3): as if opened again.
  const Directory& directory = *open->directory;
  directory.list([this, handle, open, full, sink = std::move(sink),
                  reply = std::move(reply)](Result<std::shared_ptr<const Listing>> listing) mutable {
    if (!listing) return reply(tl::unexpected(std::move(listing).error()));
    OpenFile again = *open;
    again.listing = *std::move(listing);
    fill(again, 0, full, *sink);
    files_.replace(handle, std::move(again));
    reply({});
  });
}

// Offset 0 is ".", 1 is "..", and 2 + i is name i of the listing. The mount's root has one more, ".tfilefs".
void FileSystem::fill(const OpenFile& open, std::uint64_t offset, bool full, DirectorySink& sink) {
  const Inode& self = *open.inode;
  Attributes dots;
  dots.mode = S_IFDIR;
  dots.number = self.number;
  if (offset == 0 && !sink.add(".", 0, dots, 1)) return;
  if (self.parent) dots.number = self.parent->number;
  if (offset <= 1 && !sink.add("..", 0, dots, 2)) return;
  Listing::Item item;
  const std::size_t count = open.listing->size();
  for (std::uint64_t i = offset < 2 ? 0 : offset - 2; i < count; ++i) {
    open.listing->item(i, item);
    if (!fill_child(open, item, i + 3, full, sink)) return;
  }
  if (self.id != kRootId || !context_.views_listed || offset > count + 2) return;
  item = {std::string(kControlName), S_IFDIR, control_};
  fill_child(open, item, count + 3, full, sink);
}

bool FileSystem::fill_child(const OpenFile& open, Listing::Item& item, std::uint64_t next, bool full,
                            DirectorySink& sink) {
  std::optional<Attributes> attributes;
  const bool told =
      full && item.entry.holder && (!context_.is_shared || item.entry.holder->is_same_for_all(item.entry.held));
  if (told) attributes = item.entry.holder->known_attributes(item.entry.held);
  if (attributes) {
    const InodeId id = refer(open.inode, item.name, item.name, item.entry, *attributes);
    if (sink.add(item.name, id, *attributes, next)) return true;
    inodes_->forget(id, 1);
    return false;
  }
  Attributes brief;
  brief.number = inodes_->number_of(*open.inode, item.name);
  brief.mode = item.type;
  return sink.add(item.name, 0, brief, next);
}

// ---- extended attributes, size

void FileSystem::xattrs_of(InodeId id, const CallerPtr& by, Reply<Xattrs> reply) {
  InodePtr inode = known(id);
  if (!inode) return reply(unknown_inode());
  entry_for(inode, Access::status, by, [inode, reply = std::move(reply)](Result<Entry> entry) mutable {
    if (!entry) return reply(tl::unexpected(std::move(entry).error()));
    entry->holder->xattrs(entry->held, std::move(reply));
  });
}

void FileSystem::getxattr(InodeId id, std::string_view name, Reply<std::string> reply, const CallerPtr& by) {
  // ENOTSUP instead of "no such attribute" makes ls ask once per mount instead of once per file.
  if (!name.starts_with("user.")) return reply(fail(ErrorKind::unsupported, "no such attributes here", -1, ENOTSUP));
  const std::stop_token asker = reply.asker();
  auto tell = [name = std::string(name), reply = std::move(reply)](Result<Xattrs> all) mutable {
    if (!all) return reply(tl::unexpected(std::move(all).error()));
    reply(xattr_value(*all, name));
  };
  xattrs_of(id, by, Reply<Xattrs>(std::move(tell), asker));
}

void FileSystem::listxattr(InodeId id, Reply<std::string> reply, const CallerPtr& by) {
  const std::stop_token asker = reply.asker();
  auto tell = [reply = std::move(reply)](Result<Xattrs> all) mutable {
    if (!all) return reply(tl::unexpected(std::move(all).error()));
    reply(xattr_names(*all));
  };
  xattrs_of(id, by, Reply<Xattrs>(std::move(tell), asker));
}

// The space of the source's file system. On a mount that is not writable none of it is free.
void FileSystem::statfs(Reply<struct statvfs> reply) {
  auto job = [ source = space_of_, writes = writing_ != nullptr ]() -> Result<struct statvfs> {
    struct statvfs space {};
    if (!source || ::fstatvfs(source->get(), &space) != 0) space.f_bsize = space.f_frsize = 4096;
    if (!writes) space.f_bfree = space.f_bavail = space.f_ffree = space.f_favail = 0;
    space.f_namemax = NAME_MAX;
    return space;
  };
  answer_blocking(*cache_, std::move(job), std::move(reply));
}

std::string FileSystem::stats_json() const {
  const CacheReport cache = cache_->report(true);
  return stats_text(cache, report(cache));
}

std::string FileSystem::metrics() const {
  const CacheReport cache = cache_->report(false);
  return metrics_text(cache, report(cache));
}

std::vector<GenerationPtr> FileSystem::far_files() const {
  if (far_tree_) return far_tree_->open_files();
  const GenerationPtr now = far_file_ ? far_file_->known() : nullptr;
  return now ? std::vector{now} : std::vector<GenerationPtr>{};
}

MountReport FileSystem::report(const CacheReport& cache) const {
  // An inode with its name, its place in the table, and its entry.
  constexpr std::uint64_t kInodeMemory = sizeof(Inode) + 128;
  // Lists tell nothing of the line to the server.
  constexpr tfile::SourceTraits kNoLine{.bytes_per_second = 0};
  MountReport report;
  report.metadata = {{"files", context_.files_memory},
                     {"tables", cache.reading.memory.sets},
                     {"directories", context_.directories_memory},
                     {"extents", cache.reading.memory.extents},
                     {"counts", cache.reading.memory.counts},
                     {"inodes", inodes_->size() * kInodeMemory}};
  if (far_tree_) report.sources.push_back({tfile::shown_name(far_tree_->url_of("")), far_tree_->counts(), kNoLine});
  for (const GenerationPtr& now : far_files()) {
    const tfile::Source& source = *now->source;
    report.sources.push_back({source.name(), source.counts(), source.traits()});
  }
  report.inodes = inodes_->size();
  report.handles = files_.size();
  report.errors = errors_.count();
  report.uptime_seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  return report;
}

// ---- without a kernel

Result<FileSystem::Found> FileSystem::find_path(std::string_view path) {
  std::promise<Result<Attributes>> root;
  getattr(kRootId, [&](Result<Attributes> attributes) { root.set_value(std::move(attributes)); });
  TRY(const Attributes attributes, wait_for(root.get_future()));
  Found at{kRootId, attributes};
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
    if (name.empty()) continue;
    std::promise<Result<Found>> found;
    lookup(at.id, name, [&](Result<Found> result) { found.set_value(std::move(result)); });
    TRY(at, wait_for(found.get_future()));
  }
  return at;
}

}  // namespace tfilefs
