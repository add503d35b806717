// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/mount_holders.h"

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
              "option " + std::string(name) + "=" + std::string(value) + ": " + std::string(wanted) + " is wanted");
}

// Options of mount(8), mount.fuse3, fstab, systemd or autofs that these implement themselves, or that are implied here.
bool is_passed_over(std::string_view name) {
  static constexpr auto kNames = std::to_array<std::string_view>({"ro",
                                                                  "rw",
                                                                  "writable",
                                                                  "defaults",
                                                                  "auto",
                                                                  "noauto",
                                                                  "user",
                                                                  "nouser",
                                                                  "users",
                                                                  "owner",
                                                                  "group",
                                                                  "nofail",
                                                                  "_netdev",
                                                                  "dev",
                                                                  "nodev",
                                                                  "suid",
                                                                  "nosuid",
                                                                  "exec",
                                                                  "async",
                                                                  "sync",
                                                                  "dirsync",
                                                                  "atime",
                                                                  "diratime",
                                                                  "norelatime",
                                                                  "relatime",
                                                                  "nostrictatime",
                                                                  "nolazytime",
                                                                  "lazytime",
                                                                  "iversion",
                                                                  "noiversion",
                                                                  "mand",
                                                                  "nomand",
                                                                  "silent",
                                                                  "loud",
                                                                  "nonempty",
                                                                  "bg",
                                                                  "fg",
                                                                  "comment",
                                                                  "default_permissions",
                                                                  "max_read",
                                                                  "subtype"});
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() || name.starts_with("x-") ||
         name.starts_with("X-");
}

bool is_for_kernel(std::string_view name) {
  static constexpr auto kNames = std::to_array<std::string_view>({"noexec", "noatime", "nodiratime", "strictatime"});
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

constexpr auto kPrefetchNames = std::to_array<std::string_view>({"off", "sequential", "learn"});  // as in Prefetch

constexpr auto kFormatNames = std::to_array<std::string_view>({"tree", "rntuple"});  // as in TableFormat

constexpr auto kStringsNames = std::to_array<std::string_view>({"seen", "utf8", "binary"});  // as in StringsAs

constexpr auto kChainNames = std::to_array<std::string_view>({"common", "union", "strict"});  // as in ChainPolicy

// `chain`, `chain=POLICY`, `missing=skip` and `index=FILE`.
Result<> take_chain_option(std::string_view name, std::string_view value, std::optional<ChainOptions>& chain) {
  ChainOptions options = chain.value_or(ChainOptions());
  if (name == "index") {
    if (value.empty()) return bad_value(name, value, "a file");
    options.index = value;
    if (chain) chain = options;
    return chain ? Result<>() : fail(ErrorKind::invalid, "option index= is for chains: give chain before it");
  }
  if (name == "missing") {
    if (value != "skip" && value != "refuse") return bad_value(name, value, "skip or refuse");
    options.skips_missing = value == "skip";
    if (chain) chain = options;
    return chain ? Result<>() : fail(ErrorKind::invalid, "option missing= is for chains: give chain before it");
  }
  const auto place = value.empty() ? kChainNames.begin() : std::find(kChainNames.begin(), kChainNames.end(), value);
  if (place == kChainNames.end()) return bad_value(name, value, "common, union or strict");
  options.policy = static_cast<ChainPolicy>(place - kChainNames.begin());
  chain = options;
  return {};
}

Result<> take_id(std::string_view name, std::string_view value, std::optional<id_t>& into) {
  const auto id = parse_number(value);
  if (!id || *id >= 0xffffffff) return bad_value(name, value, "a number");
  into = static_cast<id_t>(*id);
  return {};
}

// DIR, or DIR:SIZE. What follows a colon and is no size is part of the name.
Result<> take_cache(std::string_view value, tfile::FarOptions& far) {
  constexpr std::uint64_t kCacheMin = 1 << 20;
  const std::size_t colon = value.rfind(':');
  const auto size = colon == std::string_view::npos ? std::nullopt : parse_size(value.substr(colon + 1));
  const std::string_view directory = size ? value.substr(0, colon) : value;
  if (directory.empty() || (size && *size < kCacheMin))
    return bad_value("diskcache", value,
                     "a directory, perhaps with a size of at least 1M as in /var/cache/tfilefs:20G,");
  far.cache_directory = directory;
  if (size) far.cache_bytes = *size;
  return {};
}

Result<> take_option(std::string_view name, std::string_view value, MountOptions& options, WriteOptions& writing) {
  FileSystemOptions& fs = options.file_system;
  if (name == "memory" || name == "readahead") {
    const auto size = parse_size(value);
    // Less could not hold one basket of ROOT's default size and its decoded bytes.
    constexpr std::uint64_t kMemoryMin = 1 << 20;
    if (!size || (name == "memory" && *size < kMemoryMin))
      return bad_value(name, value, "a size such as 512M, memory at least 1M,");
    (name == "memory" ? fs.cache.memory : fs.cache.readahead) = *size;
  } else if (name == "threads") {
    const auto threads = parse_number(value);
    if (!threads || *threads < 1 || *threads > 1024) return bad_value(name, value, "a number of threads");
    fs.cache.threads = static_cast<unsigned>(*threads);
  } else if (name == "views") {
    if (value != "hidden" && value != "listed") return bad_value(name, value, "hidden or listed");
    fs.views_listed = value == "listed";
  } else if (name == "strings") {
    const auto place = std::find(kStringsNames.begin(), kStringsNames.end(), value);
    if (place == kStringsNames.end()) return bad_value(name, value, "seen, utf8 or binary");
    fs.strings = static_cast<StringsAs>(place - kStringsNames.begin());
  } else if (name == "prefetch") {
    const auto place = std::find(kPrefetchNames.begin(), kPrefetchNames.end(), value);
    if (place == kPrefetchNames.end()) return bad_value(name, value, "off, sequential or learn");
    fs.cache.prefetch = static_cast<Prefetch>(place - kPrefetchNames.begin());
  } else if (name == "idle") {
    const auto seconds = parse_number(value);
    if (!seconds || *seconds > 1u << 30) return bad_value(name, value, "a number of seconds");
    options.idle = std::chrono::seconds(*seconds);
  } else if (name == "timeout" || name == "recheck") {
    const auto seconds = parse_number(value);
    if (!seconds || *seconds > 86'400 || (name == "timeout" && *seconds == 0))
      return bad_value(name, value, "a number of seconds, a day at most,");
    (name == "timeout" ? fs.far.timeout : fs.far.recheck) = std::chrono::seconds(*seconds);
  } else if (name == "diskcache") {
    return take_cache(value, fs.far);
  } else if (name == "chain" || name == "missing" || name == "index") {
    return take_chain_option(name, value, options.chain);
  } else if (name == "uid") {
    return take_id(name, value, fs.ownership.uid);
  } else if (name == "gid") {
    return take_id(name, value, fs.ownership.gid);
  } else if (name == "umask") {
    const auto mask = parse_number(value, 8);
    if (!mask || *mask > 0777) return bad_value(name, value, "an octal number such as 022");
    fs.ownership.umask = static_cast<mode_t>(*mask);
  } else if (name == "compression") {
    TRY(writing.compression, tfile::parse_compression(value));
  } else if (name == "format") {
    const auto place = std::find(kFormatNames.begin(), kFormatNames.end(), value);
    if (place == kFormatNames.end()) return bad_value(name, value, "tree or rntuple");
    writing.format = static_cast<tfile::TableFormat>(place - kFormatNames.begin());
  } else if (name == "autoflush") {
    const auto size = parse_size(value);
    if (!size || *size < 1000) return bad_value(name, value, "a size such as 30M, at least 1000 bytes,");
    writing.cluster_bytes = *size;
  } else if (name == "commit") {
    const auto seconds = parse_number(value);
    if (!seconds || *seconds > 1u << 20) return bad_value(name, value, "a number of seconds");
    writing.commit = std::chrono::seconds(*seconds);
  } else if (name == "allow_other") {
    options.allow_other = fs.is_shared = true;
  } else if (name == "fsname") {
    options.shown_source = value;
  } else if (is_for_kernel(name)) {
    options.kernel_options.emplace_back(name);
  } else if (!is_passed_over(name)) {
    return fail(ErrorKind::invalid, "unknown option " + std::string(name));
  }
  return {};
}

// A quarter of the machine's memory, 4 GiB at most.
std::uint64_t default_memory() {
  const auto pages = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  const auto page = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
  return std::clamp<std::uint64_t>(pages * page / 4, 64ull << 20, 4ull << 30);
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  static constexpr std::string_view kUnits = "KMGT";
  unsigned shift = 0;
  if (!text.empty()) {
    const char last = text.back() >= 'a' ? static_cast<char>(text.back() - 'a' + 'A') : text.back();
    if (const std::size_t unit = kUnits.find(last); unit != std::string_view::npos) {
      shift = 10 * (static_cast<unsigned>(unit) + 1);
      text.remove_suffix(1);
    }
  }
  const auto number = parse_number(text);
  if (!number || *number > (UINT64_MAX >> shift)) return std::nullopt;
  return *number << shift;
}

namespace {

// mount(8) passes rw by default, so there only `writable` asks for writing. A call by mount(8) is recognized by the
// options dev and suid (or their opposites) that its helper adds.
class WriteWish {
 public:
  void note(std::string_view name) {
    if (name == "rw" || name == "ro") wished_ = name == "rw";
    if (name == "writable") explicit_ = true;
    if (name == "dev" || name == "nodev" || name == "suid" || name == "nosuid") from_mount_ = true;
  }
  bool granted() const { return explicit_ || (wished_ && !from_mount_); }

 private:
  bool wished_ = false, explicit_ = false, from_mount_ = false;
};

}  // namespace

Result<MountOptions> parse_mount_options(const std::vector<std::string>& given) {
  MountOptions options;
  WriteOptions writing;
  WriteWish wish;
  options.file_system.cache.memory = default_memory();
  options.file_system.cache.threads = std::max(1u, std::thread::hardware_concurrency());
  for (std::string_view rest : given) {
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const std::string_view option = rest.substr(0, comma);
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
      if (option.empty()) continue;
      const std::size_t equals = option.find('=');
      const std::string_view value = equals == std::string_view::npos ? "" : option.substr(equals + 1);
      TRY_VOID(take_option(option.substr(0, equals), value, options, writing));
      wish.note(option.substr(0, equals));
    }
  }
  if (wish.granted()) options.file_system.write = writing;
  return options;
}

std::string config_text(const std::string& source, const std::string& mount_point, const MountOptions& options) {
  const FileSystemOptions& fs = options.file_system;
  nlohmann::ordered_json json;
  json["tfilefs"] = 1;
  json["version"] = TFILEFS_VERSION;
  json["source"] = source;
  json["mount_point"] = mount_point;
  json["pid"] = ::getpid();
  json["pid_namespace"] = pid_namespace();
  json["ro"] = !fs.write;
  json["memory"] = fs.cache.memory;
  json["threads"] = fs.cache.threads;
  json["readahead"] = fs.cache.readahead;
  json["prefetch"] = kPrefetchNames[static_cast<std::size_t>(fs.cache.prefetch)];
  json["strings"] = kStringsNames[static_cast<std::size_t>(fs.strings)];
  json["timeout"] = std::chrono::duration<double>(fs.far.timeout).count();
  json["recheck"] = std::chrono::duration<double>(fs.far.recheck).count();
  json["diskcache"] = fs.far.cache_directory.empty() ? nullptr : nlohmann::ordered_json(fs.far.cache_directory);
  json["diskcache_bytes"] = fs.far.cache_bytes;
  json["views"] = fs.views_listed ? "listed" : "hidden";
  if (options.chain) json["chain"] = kChainNames[static_cast<std::size_t>(options.chain->policy)];
  if (fs.write) {
    json["compression"] = fs.write->compression.settings();
    json["format"] = kFormatNames[static_cast<std::size_t>(fs.write->format)];
    json["autoflush"] = fs.write->cluster_bytes;
    json["commit"] = std::chrono::duration<double>(fs.write->commit).count();
  }
  json["allow_other"] = options.allow_other;
  json["idle"] = options.idle ? nlohmann::ordered_json(options.idle->count()) : nullptr;
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace tfilefs
