// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "cli/definitions.h"
#include "cli/description.h"
#include "cli/duration.h"
#include "cli/mount_holders.h"
#include "cli/resource_limits.h"
#include "letter_case.h"
#include "query/query.h"
#include "word_distance.h"

namespace tfilefs {
namespace {

using tfile::fail;

std::optional<std::uint64_t> parse_number(std::string_view text, int base = 10) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value, base);
  if (error != std::errc() || end != text.end()) return std::nullopt;
  return value;
}

tl::unexpected<Error> bad_value(std::string_view name, std::string_view value, std::string_view wanted) {
  return fail(ErrorKind::invalid,
              "option " + std::string(name) + "=" + std::string(value) + ": expected " + std::string(wanted));
}

// Options that these implement themselves, or that are implied here. The times of access are not kept, and libfuse
// refuses some of the words for them.
constexpr auto kPassedOver = std::to_array<std::string_view>(
    {"defaults", "auto",          "noauto",     "user",       "nouser",   "users",      "owner",
     "group",    "nofail",        "_netdev",    "dev",        "nodev",    "suid",       "nosuid",
     "exec",     "async",         "sync",       "dirsync",    "atime",    "diratime",   "norelatime",
     "relatime", "nostrictatime", "nolazytime", "lazytime",   "iversion", "noiversion", "mand",
     "nomand",   "silent",        "loud",       "bg",         "fg",       "comment",    "default_permissions",
     "max_read", "subtype",       "nodiratime", "strictatime"});

bool is_passed_over(std::string_view name) {
  return std::find(kPassedOver.begin(), kPassedOver.end(), name) != kPassedOver.end() || name.starts_with("x-") ||
         name.starts_with("X-");
}

constexpr auto kPrefetchNames = std::to_array<std::string_view>({"off", "sequential", "learn"});  // as in Prefetch
constexpr auto kStringsNames = std::to_array<std::string_view>({"seen", "utf8", "binary"});       // as in StringsAs
constexpr auto kFormatNames = std::to_array<std::string_view>({"tree", "rntuple"});               // as in TableFormat
constexpr auto kChainNames = std::to_array<std::string_view>({"common", "union", "strict"});      // as in ChainPolicy
constexpr auto kMissingNames = std::to_array<std::string_view>({"refuse", "skip"});
constexpr auto kViewsNames = std::to_array<std::string_view>({"hidden", "listed"});
// As in Severity, and what may stand before one of them.
constexpr auto kLogNames = std::to_array<std::string_view>({"error", "warn", "info", "debug", "json"});
constexpr auto kCompressionNames = std::to_array<std::string_view>({"none", "zlib", "lzma", "lz4", "zstd"});

}  // namespace

// Options taken so far. mount(8) passes rw by default, so there only `writable` asks for writing. A call by mount(8)
// is recognized by the options dev and suid (or their opposites) that its helper adds.
struct ParsedOptions {
  MountOptions options;
  WriteOptions writing;
  ChainOptions chain;
  std::string_view of_chain;  // an option that is for chains alone
  bool is_chain = false, is_rw = false, is_writable = false, is_from_mount = false;
};

namespace {

using Value = std::string_view;

std::optional<std::size_t> place_in(std::span<const std::string_view> names, Value value) {
  const auto place = std::find(names.begin(), names.end(), lower_case(value));
  if (place == names.end()) return std::nullopt;
  return static_cast<std::size_t>(place - names.begin());
}

bool take_duration(Value value, std::chrono::seconds most, std::chrono::milliseconds& into) {
  const auto duration = parse_duration(value);
  if (duration && *duration <= most) into = *duration;
  return duration && *duration <= most;
}

bool take_id(Value value, std::optional<id_t>& into) {
  const auto id = parse_number(value);
  if (!id || *id >= 0xffffffff) return false;
  into = static_cast<id_t>(*id);
  return true;
}

// A number, or a name that the system knows. Before any thread is there: getpwnam(3) is for one alone.
bool take_user(Value value, std::optional<id_t>& into) {
  const passwd* user = ::getpwnam(std::string(value).c_str());
  if (user) into = user->pw_uid;
  return user || take_id(value, into);
}

bool take_group(Value value, std::optional<id_t>& into) {
  const group* named = ::getgrnam(std::string(value).c_str());
  if (named) into = named->gr_gid;
  return named || take_id(value, into);
}

bool take_memory(const MountOption&, Value value, ParsedOptions& into) {
  // Less could not hold one basket of ROOT's default size and its decoded bytes.
  constexpr std::uint64_t kMemoryMin = 1 << 20;
  const auto size = parse_size(value);
  if (size) into.options.file_system.cache.memory = *size;
  return size && *size >= kMemoryMin;
}

bool take_readahead(const MountOption&, Value value, ParsedOptions& into) {
  const auto size = parse_size(value);
  if (size) into.options.file_system.cache.readahead = *size;
  return size.has_value();
}

bool take_threads(const MountOption&, Value value, ParsedOptions& into) {
  const auto threads = parse_number(value);
  if (!threads || *threads < 1 || *threads > 1024) return false;
  into.options.file_system.cache.threads = static_cast<unsigned>(*threads);
  return true;
}

bool take_prefetch(const MountOption& option, Value value, ParsedOptions& into) {
  const auto place = place_in(option.choices, value);
  if (place) into.options.file_system.cache.prefetch = static_cast<Prefetch>(*place);
  return place.has_value();
}

bool take_strings(const MountOption& option, Value value, ParsedOptions& into) {
  const auto place = place_in(option.choices, value);
  if (place) into.options.file_system.strings = static_cast<StringsAs>(*place);
  return place.has_value();
}

bool take_views(const MountOption& option, Value value, ParsedOptions& into) {
  const auto place = place_in(option.choices, value);
  into.options.file_system.views_listed = place == 1;
  return place.has_value();
}

bool take_compression(const MountOption&, Value value, ParsedOptions& into) {
  const auto compression = tfile::parse_compression(lower_case(value));
  if (compression) into.writing.compression = *compression;
  return compression.has_value();
}

bool take_autoflush(const MountOption&, Value value, ParsedOptions& into) {
  const auto size = parse_size(value);
  if (size) into.writing.cluster_bytes = *size;
  return size && *size >= 1000;
}

// DIR, or DIR:SIZE. What follows a colon and is no size is part of the name.
bool take_cache(const MountOption&, Value value, ParsedOptions& into) {
  constexpr std::uint64_t kCacheMin = 1 << 20;
  const std::size_t colon = value.rfind(':');
  const auto size = colon == Value::npos ? std::nullopt : parse_size(value.substr(colon + 1));
  const Value directory = size ? value.substr(0, colon) : value;
  if (directory.empty() || (size && *size < kCacheMin)) return false;
  tfile::RemoteOptions& remote = into.options.file_system.remote;
  remote.cache_directory = directory;
  if (size) remote.cache_bytes = *size;
  return true;
}

bool take_chain(const MountOption& option, Value value, ParsedOptions& into) {
  const auto place = value.empty() ? 0 : place_in(option.choices, value);
  if (place) into.chain.policy = static_cast<ChainPolicy>(*place);
  into.is_chain = true;
  return place.has_value();
}

bool take_missing(const MountOption& option, Value value, ParsedOptions& into) {
  const auto place = place_in(option.choices, value);
  into.chain.skips_missing = place == 1;
  into.of_chain = option.name;
  return place.has_value();
}

bool take_index(const MountOption& option, Value value, ParsedOptions& into) {
  into.chain.index = value;
  into.of_chain = option.name;
  return !value.empty();
}

bool take_friend(const MountOption&, Value value, ParsedOptions& into) {
  auto named = parse_friend(value);
  if (named) into.options.file_system.friends.push_back(*std::move(named));
  return named.has_value();
}

bool take_definition(const MountOption&, Value value, ParsedOptions& into) {
  auto wanted = parse_definition(value);
  if (wanted) into.options.file_system.shaping.definitions.push_back(*std::move(wanted));
  return wanted.has_value();
}

bool take_choice(const MountOption&, Value value, ParsedOptions& into) {
  auto wanted = parse_choice(value);
  if (wanted) into.options.file_system.shaping.choices.push_back(*std::move(wanted));
  return wanted.has_value();
}

bool take_umask(const MountOption&, Value value, ParsedOptions& into) {
  const auto mask = parse_number(value, 8);
  if (!mask || *mask > 0777) return false;
  into.options.file_system.ownership.umask = static_cast<mode_t>(*mask);
  return true;
}

// LEVEL, json, or json:LEVEL
bool take_log(const MountOption& option, Value value, ParsedOptions& into) {
  const Value json = option.choices.back();
  const bool is_json = value == json || (value.starts_with(json) && value[json.size()] == ':');
  into.options.log_form = is_json ? LogOptions::Form::json : LogOptions::Form::text;
  into.options.log.reset();
  if (value == json) return true;
  if (is_json) value.remove_prefix(json.size() + 1);
  const auto place = place_in(option.choices.first(option.choices.size() - 1), value);
  if (place) into.options.log = static_cast<Severity>(*place);
  return place.has_value();
}

bool take_lifeline(const MountOption&, Value value, ParsedOptions& into) {
  const auto descriptor = parse_number(value);
  if (!descriptor || *descriptor > 1 << 20) return false;
  into.options.lifeline = static_cast<int>(*descriptor);
  return true;
}

bool take_for_kernel(const MountOption& option, Value, ParsedOptions& into) {
  into.options.kernel_options.emplace_back(option.name);
  return true;
}

// The kernel takes a context with commas (categories) in quotes only.
bool take_context(const MountOption& option, Value value, ParsedOptions& into) {
  const bool needs_quotes = value.find(',') != Value::npos && !value.starts_with('"');
  const std::string quote = needs_quotes ? "\"" : "";
  into.options.contexts.push_back(std::string(option.name) + "=" + quote + std::string(value) + quote);
  return !value.empty();
}

constexpr std::chrono::seconds kDay{86'400}, kCommitMost{1 << 20};
constexpr std::string_view kTime = "a time such as 30s, 10min or 1h30m; without a unit, seconds";
constexpr std::string_view kUpToADay = "a time such as 30s or 10min, at most a day; without a unit, seconds";

constexpr auto kOptions = std::to_array<MountOption>({
    {"ro",
     "",
     ValueHint::nothing,
     {},
     "read-only",
     "",
     "The default, unless rw or writable is given behind it.",
     [](const MountOption&, Value, ParsedOptions& into) {
       into.is_rw = into.is_writable = false;
       return true;
     }},
    {"rw",
     "",
     ValueHint::nothing,
     {},
     "read-write: columns that are written become tables",
     "",
     R"(SOURCE may then be a file that does not exist yet. In
.BR fstab (5)
use
.B writable
instead, because
.BR mount (8)
passes rw if neither is given.)",
     [](const MountOption&, Value, ParsedOptions& into) { return into.is_rw = true; }},
    {"writable",
     "",
     ValueHint::nothing,
     {},
     "the same as rw, for fstab",
     "",
     "",
     [](const MountOption&, Value, ParsedOptions& into) { return into.is_writable = true; }},
    {"format", "FORM", ValueHint::text, kFormatNames, "format of new tables: tree or rntuple", "tree",
     "An existing table keeps its format.",
     [](const MountOption& option, Value value, ParsedOptions& into) {
       const auto place = place_in(option.choices, value);
       if (place) into.writing.format = static_cast<tfile::TableFormat>(*place);
       return place.has_value();
     },
     "tree or rntuple"},
    {"compression", "ALG[:LEVEL]", ValueHint::text, kCompressionNames,
     "codec of what is written: none, zlib, lzma, lz4 or zstd", "zstd:5", "Levels are ROOT's: 1 to 9.",
     take_compression, "none, zlib, lzma, lz4 or zstd, optionally with :LEVEL"},
    {"autoflush",
     "SIZE",
     ValueHint::text,
     {},
     "compressed size of the clusters that are written",
     "30M, 64M with format=rntuple",
     "",
     take_autoflush,
     "a size such as 30M, at least 1000 bytes"},
    {"commit",
     "TIME",
     ValueHint::text,
     {},
     "how long after the last write a complete table is committed",
     "5",
     "A TIME is a number of seconds, or has units: 500ms, 30s, 10min, 1h30m, 2d.",
     [](const MountOption&, Value value, ParsedOptions& into) {
       return take_duration(value, kCommitMost, into.writing.commit);
     },
     kTime},
    {"memory",
     "SIZE",
     ValueHint::text,
     {},
     "memory for the cache and for data in flight",
     "a quarter of the memory, 4G at most",
     "The memory is that of the machine, or less if the control group of the program is given less. Suffixes K, M and "
     "G are powers of 1024.",
     take_memory,
     "a size such as 512M, at least 1M"},
    {"threads",
     "N",
     ValueHint::text,
     {},
     "number of decoding threads",
     "the number of cores",
     "The cores are those of the machine, or fewer if the control group of the program is given less of their time.",
     take_threads,
     "a number of threads"},
    {"readahead",
     "SIZE",
     ValueHint::text,
     {},
     "gaps up to this size are read through instead of skipped",
     "256K",
     "",
     take_readahead,
     "a size such as 256K"},
    {"prefetch", "HOW", ValueHint::text, kPrefetchNames, "what is read ahead: off, sequential or learn", "learn", "",
     take_prefetch, "off, sequential or learn"},
    {"views", "HOW", ValueHint::text, kViewsNames, "whether views and metadata are listed: hidden or listed", "hidden",
     R"(Views (.npy, .txt, .schema.json, ...) and older cycles can be opened by name in either case. If they are listed,
.I *.parquet
in a shell and completion find them.)",
     take_views, "hidden or listed"},
    {"strings", "HOW", ValueHint::text, kStringsNames, "strings in .arrow and .parquet: seen, utf8 or binary", "seen",
     R"(Readers of these refuse a table with a string that is not valid UTF-8.
.B seen
makes a column one of bytes if its first basket has such a string,
.B utf8
always gives strings, and
.B binary
always gives bytes.)",
     take_strings, "seen, utf8 or binary"},
    {"timeout",
     "TIME",
     ValueHint::text,
     {},
     "how long to wait for an answer of a server",
     "60",
     "For a URL: after this time a read or a listing fails. Until then requests are retried.",
     [](const MountOption&, Value value, ParsedOptions& into) {
       return take_duration(value, kDay, into.options.file_system.remote.timeout) &&
              into.options.file_system.remote.timeout.count() > 0;
     },
     kUpToADay},
    {"recheck",
     "TIME",
     ValueHint::text,
     {},
     "how long a remote file is assumed to be unchanged",
     "5",
     "",
     [](const MountOption&, Value value, ParsedOptions& into) {
       return take_duration(value, kDay, into.options.file_system.remote.recheck);
     },
     kUpToADay},
    {"diskcache",
     "DIR[:SIZE]",
     ValueHint::directory,
     {},
     "cache what servers send in this directory, up to SIZE",
     "off; 10G",
     R"(Later mounts of an unchanged file read it from there, and mounts share it. The least recently used is evicted first. The
directory is made if it is not there. It must belong to the user who mounts, and no other user may write to it.)",
     take_cache,
     "a directory, optionally with a size of at least 1M as in /var/cache/tfilefs:20G"},
    {"chain", "[HOW]", ValueHint::text, kChainNames,
     "mount several SOURCEs, or a pattern, as one: common, union or strict", "common",
     R"(There may be several SOURCEs: files, directories, URLs, patterns in quotes, and
.IR @LIST ,
a text file of names. Each may name a table, as
.IR FILE:TABLE .
Columns that not all files have are left out (common), are lists of 0 or 1 (union), or the mount is refused (strict).)",
     take_chain, "common, union or strict"},
    {"missing", "HOW", ValueHint::text, kMissingNames,
     "what to do if a file of a chain cannot be opened: refuse or skip", "refuse", "", take_missing, "refuse or skip"},
    {"index",
     "FILE",
     ValueHint::file,
     {},
     "file that caches what is known about the files of a chain",
     "",
     "Later mounts open only files that have changed since.",
     take_index,
     "a file"},
    {"friend",
     "ALIAS=SOURCE[@KEY[,KEY]]",
     ValueHint::text,
     {},
     "add this friend to the tables, in .friends/ALIAS",
     "",
     R"(Of one file or a chain; may be given several times. SOURCE is what a chain takes, perhaps with a table. Without KEY,
entries belong together by their position, or by the index that is stored with the friend. With one or two names of
columns, those with equal values belong together.)",
     take_friend,
     "ALIAS=SOURCE, optionally with @COLUMN or @COLUMN,COLUMN"},
    {"define",
     "[TABLE:]NAME=EXPR",
     ValueHint::text,
     {},
     "add a column that is computed to the tables",
     "",
     R"(May be given several times; without TABLE, of every table. It is computed when it is read. In an expression, a comma
outside of parentheses is written \,.)",
     take_definition,
     "[TABLE:]NAME=EXPR"},
    {"where",
     "[TABLE:]EXPR",
     ValueHint::text,
     {},
     "show of the tables the entries of which the expression is not 0",
     "",
     R"(May be given several times: then all must not be 0. Without TABLE, of every table.)",
     take_choice,
     "[TABLE:]EXPR"},
    {"idle",
     "TIME",
     ValueHint::text,
     {},
     "unmount after being unused for this long",
     "never",
     "",
     [](const MountOption&, Value value, ParsedOptions& into) {
       std::chrono::milliseconds idle{};
       const bool taken = take_duration(value, std::chrono::seconds(1 << 30), idle);
       if (taken) into.options.idle = std::chrono::ceil<std::chrono::seconds>(idle);
       return taken;
     },
     kTime},
    {"log", "HOW", ValueHint::text, kLogNames,
     "least severity for the system log: error, warn, info or debug; json or json:LEVEL for JSON",
     "info; with -f error",
     R"(Errors are those of
.IR .tfilefs/errors ;
info adds mount, commits and end, and debug the options. A repeated line is written once, and then how often it was repeated. With
.B \-f
lines go to standard error. With
.B json
or
.BI json: LEVEL
each line is an object of JSON.)",
     take_log, "error, warn, info, debug, json or json:LEVEL"},
    {"logfile",
     "FILE",
     ValueHint::file,
     {},
     "write the log to a file instead",
     "",
     "It may be moved away at any time.",
     [](const MountOption&, Value value, ParsedOptions& into) {
       into.options.log_file = value;
       return !value.empty();
     },
     "a file name"},
    {"metrics",
     "FILE",
     ValueHint::file,
     {},
     "also write .tfilefs/metrics to this file, for Prometheus",
     "",
     R"(It is written every 15 seconds, as a whole, and removed when the mount ends. A file that is there and is no such page is
refused. The textfile collector of Prometheus' node
exporter takes the files of its directory whose names end in
.IR .prom .)",
     [](const MountOption&, Value value, ParsedOptions& into) {
       into.options.file_system.metrics_file = value;
       return !value.empty();
     },
     "a file name"},
    {"lifeline",
     "FD",
     ValueHint::text,
     {},
     "unmount, and remove MNT, when the other end of this pipe is closed",
     "",
     "For programs that mount for themselves: when they end, however they end, their mount goes.",
     take_lifeline,
     "the number of a file descriptor"},
    {"auto_unmount",
     "",
     ValueHint::nothing,
     {},
     "unmount even if the daemon is killed, so that no dead mount blocks an automounter",
     "",
     "A second process waits for that. What was not committed stays in the journal.",
     [](const MountOption&, Value, ParsedOptions& into) { return into.options.auto_unmount = true; }},
    {"allow_other",
     "",
     ValueHint::nothing,
     {},
     "let other users in, as far as the file modes permit",
     "",
     R"(Each user is shown what that user could open in the source. A file behind a URL is read with the rights of the user
who mounted, for all readers. For users other than root,
.I /etc/fuse.conf
must have the line user_allow_other.)",
     [](const MountOption&, Value, ParsedOptions& into) {
       return into.options.allow_other = into.options.file_system.is_shared = true;
     }},
    {"nonempty",
     "",
     ValueHint::nothing,
     {},
     "mount on a directory that is not empty, a home directory, or /",
     "",
     "What is below MNT is hidden as long as the mount is there.",
     [](const MountOption&, Value, ParsedOptions& into) { return into.options.nonempty = true; }},
    {"uid",
     "USER",
     ValueHint::text,
     {},
     "owner of all files, by name or number, instead of the source's owner",
     "",
     "This user, and the group that gid= names, are trusted like the user who mounted.",
     [](const MountOption&, Value value, ParsedOptions& into) {
       return take_user(value, into.options.file_system.ownership.uid);
     },
     "a user: a name or a number"},
    {"gid",
     "GROUP",
     ValueHint::text,
     {},
     "group of all files, by name or number",
     "",
     "",
     [](const MountOption&, Value value, ParsedOptions& into) {
       return take_group(value, into.options.file_system.ownership.gid);
     },
     "a group: a name or a number"},
    {"umask", "OCTAL", ValueHint::text, {}, "mode bits to remove", "", "", take_umask, "an octal number such as 022"},
    {"fsname",
     "NAME",
     ValueHint::text,
     {},
     "the source as shown in the mount table",
     "SOURCE",
     "",
     [](const MountOption&, Value value, ParsedOptions& into) {
       into.options.shown_source = value;
       return true;
     }},
    {"noexec", "", ValueHint::nothing, {}, "as in mount(8): no file can be executed", "", "", take_for_kernel},
    {"noatime", "", ValueHint::nothing, {}, "as in mount(8)", "", "", take_for_kernel},
    {"context",
     "CONTEXT",
     ValueHint::text,
     {},
     "as in mount(8): the SELinux context of all files",
     "",
     "This option, fscontext=, defcontext= and rootcontext= are for root, and are ignored if SELinux is off.",
     take_context,
     "an SELinux context"},
    {"fscontext", "CONTEXT", ValueHint::text, {}, "as in mount(8)", "", "", take_context, "an SELinux context"},
    {"defcontext", "CONTEXT", ValueHint::text, {}, "as in mount(8)", "", "", take_context, "an SELinux context"},
    {"rootcontext", "CONTEXT", ValueHint::text, {}, "as in mount(8)", "", "", take_context, "an SELinux context"},
});

const MountOption* find_option(std::string_view name) {
  const auto found = std::ranges::find(kOptions, name, &MountOption::name);
  return found != kOptions.end() ? &*found : nullptr;
}

tl::unexpected<Error> unknown_option(std::string_view name) {
  const std::string told = "unknown option " + std::string(name);
  constexpr std::size_t kWordMax = 32;
  if (name.size() > kWordMax) return fail(ErrorKind::invalid, told);
  NearestName nearest(name, (name.size() + 1) / 2);
  for (const MountOption& option : kOptions) nearest.look_at(option.name);
  const std::string& like = nearest.found();
  return fail(ErrorKind::invalid, told + (like.empty() ? "" : ": did you mean " + like + "?"));
}

Result<> take_option(std::string_view name, Value value, ParsedOptions& into) {
  if (name == "dev" || name == "nodev" || name == "suid" || name == "nosuid") into.is_from_mount = true;
  if (const MountOption* const option = find_option(name)) {
    if (option->hint == ValueHint::nothing && !value.empty()) return bad_value(name, value, "no value");
    return option->take(*option, value, into) ? Result<>() : bad_value(name, value, option->wanted);
  }
  if (is_passed_over(name)) return {};
  return unknown_option(name);
}

// Whether what follows a comma is the second column of a friend's key: no option, behind a key of one column.
bool is_second_column(std::string_view option, std::string_view next) {
  constexpr std::string_view kFriend = "friend=";
  const std::string_view name = next.substr(0, next.find('='));
  if (!option.starts_with(kFriend) || is_passed_over(name) || find_option(name)) return false;
  option.remove_prefix(kFriend.size());
  const std::size_t key = friend_key_begin(option);
  return key != Value::npos && option.find(',', key) == Value::npos;
}

// Whether what follows a comma belongs to a context of SELinux in quotes, as mount(8) takes them.
bool is_open_context(std::string_view option) {
  const std::size_t begin = option.find("context=\"");
  return begin < option.find('=') && std::ranges::count(option, '"') == 1;
}

// Whether what follows a comma belongs to an expression, in parentheses or brackets.
bool is_open_expression(Value option) {
  if (!option.starts_with("where=") && !option.starts_with("define=")) return false;
  const auto count = [option](char sign) { return std::ranges::count(option, sign); };
  return count('(') + count('[') > count(')') + count(']');
}

// At commas that have no backslash in front, and are none in a friend's key or in a context of SELinux.
std::vector<std::string> split_options(std::string_view list) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool is_escaped = list[i] == '\\' && list.substr(i + 1).starts_with(',');
    if (is_escaped) ++i;
    if (list[i] != ',' || is_escaped) {
      parts.back() += list[i];
      continue;
    }
    if (is_open_context(parts.back()) || is_open_expression(parts.back()) ||
        is_second_column(parts.back(), list.substr(i + 1, list.find(',', i + 1) - i - 1)))
      parts.back() += ',';
    else
      parts.emplace_back();
  }
  std::erase(parts, "");
  return parts;
}

// The names in them are known when a table is entered.
Result<> check_expressions(const TableShaping& shaping) {
  std::vector<WantedExpression> all = shaping.definitions;
  all.insert(all.end(), shaping.choices.begin(), shaping.choices.end());
  for (const WantedExpression& each : all) {
    auto checked = check_expression(each.expression);
    if (checked) continue;
    Error error = std::move(checked).error();
    error.text.insert(0, "option " + each.option().substr(0, each.option().find('=') + 1) + ": ");
    return tl::unexpected<Error>(std::move(error));
  }
  return {};
}

}  // namespace

// The rest is for the program itself, some 30 MB, and for the pages that the kernel keeps for the group.
std::uint64_t default_memory(std::uint64_t limit) {
  return std::clamp<std::uint64_t>(limit / 4, 16ull << 20, 4ull << 30);
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  constexpr std::size_t kDecimalsMax = 6;
  static constexpr std::string_view kUnits = "kmgt", kDigits = "0123456789";
  const std::size_t digits = std::min(text.find_first_not_of(kDigits), text.size());
  const auto number = parse_number(text.substr(0, digits));
  text.remove_prefix(digits);
  std::string_view decimals;  // of 1.5G
  if (text.starts_with('.')) {
    decimals = text.substr(1, std::min(text.find_first_not_of(kDigits, 1), text.size()) - 1);
    if (decimals.empty() || decimals.size() > kDecimalsMax) return std::nullopt;
    text.remove_prefix(1 + decimals.size());
  }
  if (digits > 0 && text.starts_with(' ')) text.remove_prefix(1);
  std::string unit = lower_case(text);
  if (!number || unit.size() > 3) return std::nullopt;
  std::uint64_t step = 1024;
  if (unit == "b") unit.clear();
  if (unit.size() > 1) {
    if (unit.substr(1) == "b")
      step = 1000;
    else if (unit.substr(1) != "ib")
      return std::nullopt;
    unit.resize(1);
  }
  const std::size_t place = unit.empty() ? 0 : kUnits.find(unit[0]) + 1;
  if (!unit.empty() && place == 0) return std::nullopt;
  if (!decimals.empty() && place == 0) return std::nullopt;  // parts of bytes
  std::uint64_t size = *number, part = parse_number(decimals).value_or(0);
  for (std::size_t i = 0; i < place; ++i)
    if (__builtin_mul_overflow(size, step, &size) || __builtin_mul_overflow(part, step, &part)) return std::nullopt;
  for (std::size_t i = 0; i < decimals.size(); ++i) part /= 10;
  return __builtin_add_overflow(size, part, &size) ? std::nullopt : std::optional(size);
}

Result<MountOptions> parse_mount_options(const std::vector<std::string>& given) {
  ParsedOptions parsed;
  FileSystemOptions& fs = parsed.options.file_system;
  fs.cache.memory = 0;
  fs.cache.threads = 0;
  for (const std::string_view list : given) {
    for (const std::string& each : split_options(list)) {
      const std::string_view option = each;
      const std::size_t equals = option.find('=');
      const std::string_view value = equals == std::string_view::npos ? "" : option.substr(equals + 1);
      TRY_VOID(take_option(option.substr(0, equals), value, parsed));
    }
  }
  // The machine's memory is read from files, and only if it counts.
  if (fs.cache.memory == 0) fs.cache.memory = default_memory(memory_limit().amount);
  if (fs.cache.threads == 0) fs.cache.threads = usable_cores();
  if (parsed.is_chain) parsed.options.chain = parsed.chain;
  if (!parsed.is_chain && !parsed.of_chain.empty())
    return fail(ErrorKind::invalid,
                "option " + std::string(parsed.of_chain) + "= is only for chains: add the option chain");
  if (parsed.is_writable || (parsed.is_rw && !parsed.is_from_mount)) fs.write = parsed.writing;
  if (fs.write && !(fs.shaping.definitions.empty() && fs.shaping.choices.empty()))
    return fail(ErrorKind::invalid, "options define= and where= are only for mounts that are not written");
  TRY_VOID(check_expressions(fs.shaping));
  return std::move(parsed.options);
}

std::optional<MountOptions> options_or_complaint(const std::vector<std::string>& given) {
  auto options = parse_mount_options(given);
  if (options) return *std::move(options);
  complain_in_lines(options.error());
  return std::nullopt;
}

std::span<const MountOption> mount_options() { return kOptions; }

std::span<const std::string_view> passed_over_options() { return kPassedOver; }

std::string config_text(const std::vector<std::string>& sources, const std::string& mount_point,
                        const MountOptions& options, ConfigForm form) {
  const FileSystemOptions& fs = options.file_system;
  nlohmann::ordered_json json;
  json["tfilefs"] = 1;
  json["version"] = TFILEFS_VERSION;
  json["source"] = tfile::shown_name(sources.at(0));
  for (const std::string& each : sources) json["sources"].push_back(tfile::shown_name(each));
  json["mount_point"] = mount_point;
  json["pid"] = ::getpid();
  json["pid_namespace"] = pid_namespace();
  json["ro"] = !fs.write;
  json["memory"] = fs.cache.memory;
  json["threads"] = fs.cache.threads;
  json["readahead"] = fs.cache.readahead;
  json["prefetch"] = kPrefetchNames[static_cast<std::size_t>(fs.cache.prefetch)];
  json["strings"] = kStringsNames[static_cast<std::size_t>(fs.strings)];
  json["timeout"] = std::chrono::duration<double>(fs.remote.timeout).count();
  json["recheck"] = std::chrono::duration<double>(fs.remote.recheck).count();
  json["diskcache"] = fs.remote.cache_directory.empty() ? nullptr : nlohmann::ordered_json(fs.remote.cache_directory);
  json["diskcache_bytes"] = fs.remote.cache_bytes;
  json["metrics"] = fs.metrics_file.empty() ? nullptr : nlohmann::ordered_json(fs.metrics_file);
  json["views"] = fs.views_listed ? "listed" : "hidden";
  for (const NamedFriend& each : fs.friends) json["friends"][each.alias] = tfile::shown_name(each.source);
  for (const WantedExpression& each : fs.shaping.definitions)
    json["define"].push_back({{"table", each.table}, {"name", each.name}, {"expression", each.expression}});
  for (const WantedExpression& each : fs.shaping.choices)
    json["where"].push_back({{"table", each.table}, {"expression", each.expression}});
  if (options.chain) json["chain"] = kChainNames[static_cast<std::size_t>(options.chain->policy)];
  if (fs.write) {
    json["compression"] = fs.write->compression.settings();
    json["format"] = kFormatNames[static_cast<std::size_t>(fs.write->format)];
    json["autoflush"] = fs.write->cluster_bytes.value_or(tfile::usual_cluster_bytes(fs.write->format));
    json["commit"] = std::chrono::duration<double>(fs.write->commit).count();
  }
  json["allow_other"] = options.allow_other;
  json["idle"] = options.idle ? nlohmann::ordered_json(options.idle->count()) : nullptr;
  const bool in_lines = form == ConfigForm::lines;
  return json.dump(in_lines ? 2 : -1, ' ', false, nlohmann::json::error_handler_t::replace) + (in_lines ? "\n" : "");
}

}  // namespace tfilefs
