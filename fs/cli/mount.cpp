// SPDX-License-Identifier: Apache-2.0
#include "fuse/mount.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/background.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/mount_table.h"
#include "cli/options.h"
#include "printable.h"
#include "tfile/disk_cache.h"

namespace tfilefs {
namespace {

using tfile::fail;

constexpr const char* kOptions = R"(Options for -o:
  ro, rw             read-only; or columns that are written become tables (ro)
  format=FORM        what new tables are: tree or rntuple (tree)
  compression=ALG[:LEVEL]   none, zlib, lzma, lz4 or zstd, of what is written (zstd:5)
  autoflush=SIZE     compressed bytes of a cluster (30M)
  commit=SECONDS     of quiet before a table that is whole is committed (5)
  memory=SIZE        bytes of cache and work in flight (a quarter of the memory, 4G at most)
  threads=N          threads that decode (the number of cores)
  readahead=SIZE     gaps up to this size are read through rather than sought over (256K)
  prefetch=HOW       off, sequential or learn (learn)
  views=HOW          whether views and metadata are listed: hidden or listed (hidden)
  strings=HOW        strings in .arrow and .parquet: seen (bytes where the first ones are no UTF-8), utf8 or binary (seen)
  timeout=SECONDS    how long a server may give no answer (60)
  recheck=SECONDS    how long it is believed that a file of a server is unchanged (5)
  diskcache=DIR[:SIZE]   keep what servers send in this directory for later mounts, at most SIZE (off; 10G)
  chain[=HOW]        several SOURCEs, or a pattern, as one: columns that all files have (common), lists of 0 or 1 where
                     some have none (union), or refused if they differ (strict)
  missing=skip       a file of a chain that cannot be opened is left out
  index=FILE         of a chain: what was learned of its files is kept here, for later mounts
  idle=SECONDS       unmount by itself when unused for so long (never)
  allow_other        let other users in, as far as the modes let them
  uid=N gid=N umask=OCTAL   overrule the source's owner and mode

Exit codes: 0 success; 1 failure, said on stderr, also of umount, commit and recover if something stays uncommitted;
2 wrong usage. Of check they are fsck's: 0 no errors; 4 errors; 8 not all was checked; 16 wrong usage; or the sum.)";

std::string footer() {
  constexpr std::size_t kWidth = 46;
  std::string text = "Commands:\n";
  for (const Command& command : all_commands()) {
    std::string line = "  tfilefs " + std::string(command.name) + " " + std::string(command.arguments);
    line.resize(std::max(line.size() + 1, kWidth), ' ');
    text += line + std::string(command.does) + "\n";
  }
  return text + "\n" + kOptions;
}

// Names the README, which tells what a listing of the mount does not show.
std::string greeting(const std::string& mount_point) {
  std::string directory = mount_point;
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  return "tfilefs: mounted; see " + printable(directory) + "/.tfilefs/README\n";
}

// With directories of thousands of ROOT files, each file in use keeps some descriptors open.
void allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

struct Request {
  std::string source, mount_point;   // absolute, or a URL
  std::vector<std::string> sources;  // of a chain
  MountOptions options;
  bool debug = false;
};

Result<> check(const Request& request) {
  TRY_VOID(clear_dead_mount(request.mount_point));
  struct stat status {};
  if (::stat(request.mount_point.c_str(), &status) != 0) {
    return fail(ErrorKind::not_found, request.mount_point + ": " + std::strerror(errno), -1, errno);
  }
  if (!S_ISDIR(status.st_mode)) return fail(ErrorKind::invalid, request.mount_point + ": not a directory");
  const std::string& cache = request.options.file_system.far.cache_directory;
  const bool is_far = std::any_of(request.sources.begin(), request.sources.end(), tfile::is_url);
  if (is_far && !cache.empty()) TRY_VOID(tfile::prepare_cache_directory(cache));
  return {};
}

// Not a URL. The name of a list has an @ in front.
std::string absolute_source(const std::string& name) {
  if (tfile::is_url(name)) return name;
  return name.starts_with('@') ? "@" + absolute_path(name.substr(1)) : absolute_path(name);
}

// If the mount point lies inside a mirrored directory, the mirror must not lead into itself.
std::string hidden_path(const Request& request) {
  const std::string below = request.source == "/" ? "/" : request.source + "/";
  return request.mount_point.starts_with(below) ? request.mount_point.substr(below.size()) : "";
}

Result<> mount_and_serve(Request request, const std::function<void()>& ready) {
  TRY_VOID(check(request));
  request.options.file_system.config_json =
      config_text(tfile::shown_name(request.source), request.mount_point, request.options);
  TRY(auto fs, request.options.chain
                   ? FileSystem::open_chain(request.sources, *request.options.chain, request.options.file_system)
                   : FileSystem::open(request.source, request.options.file_system, hidden_path(request)));
  MountSettings settings;
  settings.mount_point = request.mount_point;
  settings.shown_source = request.options.shown_source.value_or(tfile::shown_name(request.source));
  settings.kernel_options = request.options.kernel_options;
  settings.allow_other = request.options.allow_other;
  settings.ownership = request.options.file_system.ownership;
  settings.debug = request.debug;
  settings.idle = request.options.idle;
  settings.writable = request.options.file_system.write.has_value();
  if (settings.writable) {
    // The umask of the process that makes a file counts, and the kernel has applied it already. This process's own
    // umask is for its own files.
    process_owner();
    ::umask(0);
  }
  return serve(std::move(fs), settings, ready);
}

}  // namespace

int run_mount(int argc, char** argv) {
  CommandLine command("Mounts a ROOT file, or a directory with ROOT files in it, as a file system.", "tfilefs");
  command.set_footer(footer());
  command.add_version(std::string("tfilefs ") + TFILEFS_VERSION);
  std::vector<std::string> given, option_lists;
  bool foreground = false;
  Request request;
  command.add_arguments(
      "SOURCE... MNT", given,
      "a ROOT file, a directory, or the URL of one, or of several by a pattern; with -o chain any number.\n"
      "MNT is a directory",
      2);
  command.add_mount_options(option_lists, "options, see below");
  command.add_flag("-f", foreground, "stay in the foreground");
  command.add_flag("-d", request.debug, "trace every request on stderr; implies -f");
  if (const auto code = command.parse(argc, argv)) return *code;

  auto options = parse_mount_options(option_lists);
  if (!options) {
    complain(options.error());
    return kExitUsage;
  }
  request.options = *std::move(options);
  const std::string mount_point = given.back();
  given.pop_back();
  if (given.size() > 1 && !request.options.chain) {
    complain(Error{ErrorKind::invalid, "more than one SOURCE: only with -o chain"});
    return kExitUsage;
  }
  for (const std::string& source : given) request.sources.push_back(absolute_source(source));
  request.source = request.sources[0];
  request.mount_point = absolute_path(mount_point);
  std::string& cache = request.options.file_system.far.cache_directory;
  if (!cache.empty()) cache = absolute_path(cache);
  if (request.options.chain && !request.options.chain->index.empty())
    request.options.chain->index = absolute_path(request.options.chain->index);
  allow_many_files();

  if (foreground || request.debug) {
    const auto result = mount_and_serve(std::move(request), [] {});
    return result ? kExitOk : complain(result.error());
  }
  Background background(greeting(mount_point));
  const auto result = mount_and_serve(std::move(request), [&] { background.ready(); });
  if (result) return kExitOk;
  background.fail(message_of(result.error()));
  return kExitFailure;
}

}  // namespace tfilefs
