// SPDX-License-Identifier: Apache-2.0
// What a mount shows: opening what the user has named.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <utility>

#include "staging/changes/abandoned_journal.h"
#include "tfile/name.h"
#include "vfs/chain/chain.h"
#include "vfs/chain/chain_directory.h"
#include "vfs/chain/chain_files.h"
#include "vfs/file_system.h"
#include "vfs/friends/chain_friends.h"
#include "vfs/mirror/source_tree.h"
#include "vfs/names/dataset.h"
#include "vfs/names/expand_sources.h"
#include "vfs/names/names.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/root_file_vnodes.h"
#include "vfs/nodes/url_origin.h"
#include "vfs/remote/remote_tree.h"
#include "vfs/written/written_file.h"
#include "waited.h"

namespace tfilefs {

using tfile::fail;

namespace {

tl::unexpected<Error> friends_need_one_file(const std::string& name) {
  return fail(ErrorKind::invalid, name + ": friend= works only with one read-only file or with a chain");
}

bool may_be_remote(const std::string& name) { return tfile::is_url(name) || name.starts_with('@'); }
bool may_be_remote(const std::vector<NamedFriend>& friends) {
  return std::ranges::any_of(friends, [](const NamedFriend& each) { return may_be_remote(each.source); });
}

// Options for tables that are not there.
void note_missing_tables(MountContext& context, const std::vector<std::string>& tables) {
  for (const WantedExpression& each : context.shaping.without_table(tables)) {
    const std::string what = each.table.empty() ? "there is no table" : "there is no table " + each.table;
    context.errors.add("/", "option " + each.option() + ": " + what);
  }
}

// Looked for once, on a thread of its own: in a mirror of many files most do not have the table.
void look_for_tables(MountContext& context, MountedFile& file) {
  if (context.shaping.definitions.empty() && context.shaping.choices.empty()) return;
  auto look = [&context](Result<GenerationPtr> now) {
    if (!now) return;
    const tfile::ServerId origin = (*now)->source->origin();
    auto note = [&context](Result<std::vector<TablePlace>> found) {
      std::vector<std::string> tables;
      for (const TablePlace& each : found.value_or(std::vector<TablePlace>())) tables.push_back(each.path);
      if (found) note_missing_tables(context, tables);
    };
    answer_blocking(
        context.cache, origin, [now = *std::move(now)] { return tables_in(*now); },
        Reply<std::vector<TablePlace>>(std::move(note), {}));
  };
  file.current(Freshness::recent, Reply<GenerationPtr>(std::move(look)));
}

// Jobs that wait for a server must leave room for others.
constexpr unsigned kRemoteJobs = 64;

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

}  // namespace

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
  if ((mirrors || options.write) && !options.friends.empty()) return friends_need_one_file(source);
  CacheOptions cache = options.cache;
  if (may_be_remote(options.friends)) cache.job_threads = std::max(cache.job_threads, kRemoteJobs);
  std::unique_ptr<FileSystem> fs(new FileSystem(std::make_unique<ClusterCache>(cache), options));
  TRY(fs->context_.friends, fs->open_friends(options.friends, ChainOptions(), options.remote));
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
                                                           tfile::RemoteOptions remote) {
  remote.stop = end_of_requests_.get_token();
  chain.index.clear();
  std::vector<FriendSource> sources;
  for (const NamedFriend& each : named) {
    const std::string path = std::string(kFriendsName) + "/" + each.alias;
    auto place = make_named_place(context_, std::vector<std::string>{each.source}, remote);
    sources.push_back({each.alias, make_chain(context_, std::move(place), chain, path), each.key});
    if (auto opened = open_now({sources.back().chain}); !opened) {
      Error error = std::move(opened).error();
      error.text = "friend " + each.alias + ": " + error.text;
      return tl::unexpected(std::move(error));
    }
  }
  return sources;
}

Result<> FileSystem::show_directory(const std::string& source, std::string hidden) {
  TRY(tree_, SourceTree::open(context_, source, std::move(hidden)));
  set_root(Entry{tree_->root(), {}});
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
  const auto root = written_ ? written_->root() : std::make_shared<const RootFileVnodes>(context_, file);
  set_root(Entry{root, {}});
  if (!there) return {};
  TRY_VOID(open_now(*file));
  look_for_tables(context_, *file);
  return {};
}

Result<std::unique_ptr<FileSystem>> FileSystem::open_url(const std::string& url, FileSystemOptions options) {
  const std::string name = tfile::shown_name(url);
  if (options.write) return fail(ErrorKind::invalid, name + ": only local files can be written, this is a URL");
  options.cache.job_threads = std::max(options.cache.job_threads, kRemoteJobs);
  std::unique_ptr<FileSystem> fs(new FileSystem(std::make_unique<ClusterCache>(options.cache), options));
  TRY(fs->context_.friends, fs->open_friends(options.friends, ChainOptions(), options.remote));
  if (auto shown = fs->show_url(url, options.remote); !shown) {
    Error error = std::move(shown).error();
    if (!error.text.starts_with(name)) error.text = name + ": " + error.text;
    return tl::unexpected(std::move(error));
  }
  if (fs->remote_tree_ && !options.friends.empty()) return friends_need_one_file(name);
  return fs;
}

Result<> FileSystem::show_url(const std::string& url, tfile::RemoteOptions options) {
  options.stop = end_of_requests_.get_token();
  const tfile::UrlParts parts = tfile::url_parts(url);
  if (has_pattern(parts.path)) {
    TRY(const std::vector<std::string> found, expand_sources(url, options));
    TRY(RemotePattern pattern, remote_pattern(url));
    if (found != std::vector{url}) return show_remote_directory(pattern.directory, options, std::move(pattern.shown));
  }
  if (parts.path.empty() || parts.path.ends_with('/')) return show_remote_directory(url, options, {});
  auto shown = show_remote_file(url, options);
  if (shown || parts.path.ends_with(".root") || !may_be_directory(shown.error())) return shown;
  // The server's answer against a file holds for a directory, too, if that is what it is.
  return show_remote_directory(url, options, {}) ? Result<>() : shown;
}

Result<> FileSystem::show_remote_file(const std::string& url, const tfile::RemoteOptions& options) {
  remote_file_ = std::make_shared<MountedFile>(context_, make_url_origin(url, options), "");
  set_root(Entry{std::make_shared<const RootFileVnodes>(context_, remote_file_), {}});
  TRY_VOID(open_now(*remote_file_));
  look_for_tables(context_, *remote_file_);
  return {};
}

Result<std::unique_ptr<FileSystem>> FileSystem::open_chain(std::vector<std::string> names, const ChainOptions& chain,
                                                           FileSystemOptions options) {
  if (options.write) return fail(ErrorKind::invalid, "a chain cannot be written");
  const bool is_remote = std::ranges::any_of(names, [](const std::string& name) { return may_be_remote(name); });
  if (is_remote || may_be_remote(options.friends))
    options.cache.job_threads = std::max(options.cache.job_threads, kRemoteJobs);
  std::unique_ptr<FileSystem> fs(new FileSystem(std::make_unique<ClusterCache>(options.cache), options));
  options.remote.stop = fs->end_of_requests_.get_token();
  TRY(std::vector<FriendSource> friends, fs->open_friends(options.friends, chain, options.remote));
  TRY_VOID(fs->show_chains(std::move(names), chain, options.remote, std::move(friends)));
  TRY_VOID(open_now(fs->chains_));
  std::vector<std::string> tables;
  for (const auto& each : fs->chains_) {
    each->save();
    const ChainStatePtr state = each->known();
    for (const ChainedTable& table : state->tables) tables.push_back(each->path() + "/" + table.path);
  }
  note_missing_tables(fs->context_, tables);
  return fs;
}

// A dataset has a chain for each of its samples.
Result<> FileSystem::show_chains(std::vector<std::string> names, const ChainOptions& chain,
                                 const tfile::RemoteOptions& remote, std::vector<FriendSource> friends) {
  const bool is_of_samples = names.size() == 1 && is_dataset(names[0]);
  if (!is_of_samples) {
    chains_.push_back(make_chain(context_, make_named_place(context_, std::move(names), remote), chain, "",
                                 ChainAbout(), std::move(friends)));
    set_root(make_chain_root(chains_[0]));
    return {};
  }
  TRY(Dataset dataset, read_dataset(names[0].substr(1)));
  for (Dataset::Friend& named : dataset.friends) {
    const std::string alias = tfile::escape_name(named.alias);
    friends.push_back(
        {alias,
         make_chain(context_, make_named_place(context_, std::move(named.files), remote),
                    ChainOptions{chain.policy, chain.skips_missing, ""}, std::string(kFriendsName) + "/" + alias),
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
    chains_.push_back(make_chain(context_, make_named_place(context_, std::move(samples[i].files), remote),
                                 std::move(options), shown[i], ChainAbout{samples[i].metadata, samples[i].attributes},
                                 friends));
    for (FriendSource& source : friends) source.before.push_back(chains_.back());
    roots.emplace_back(shown[i], chains_.back());
  }
  set_root(make_chains_root(roots));
  return {};
}

Result<> FileSystem::show_remote_directory(const std::string& url, const tfile::RemoteOptions& options,
                                           PathPattern shown) {
  remote_tree_ = std::make_shared<RemoteTree>(context_, url, options, std::move(shown));
  TRY_VOID(waited<RemoteTree::ListingPtr>([&](auto reply) { remote_tree_->list("", std::move(reply)); }));
  set_root(Entry{remote_tree_->root(), {}});
  remote_file_.reset();
  return {};
}

// All at the same time. Waits for all of them even if one fails, since they answer into what is here.
Result<> FileSystem::open_now(const std::vector<std::shared_ptr<Chain>>& chains) {
  std::vector<std::promise<Result<ChainStatePtr>>> opened(chains.size());
  for (std::size_t i = 0; i < chains.size(); ++i)
    chains[i]->current(Freshness::now, Reply<ChainStatePtr>([&reply = opened[i]](Result<ChainStatePtr> now) {
                         reply.set_value(std::move(now));
                       }));
  Result<> done;
  for (auto& each : opened) {
    auto now = each.get_future().get();
    if (!now && done) done = tl::unexpected(std::move(now).error());
  }
  return done;
}

Result<> FileSystem::open_now(MountedFile& file) {
  TRY_VOID(waited<GenerationPtr>([&](auto reply) { file.current(Freshness::now, std::move(reply)); }));
  return {};
}

}  // namespace tfilefs
