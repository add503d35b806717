// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "log.h"
#include "reply.h"
#include "vfs/file_system.h"

namespace tfilefs {

// The options of -o; docs/tfilefs.1 describes each.
struct MountOptions {
  FileSystemOptions file_system;
  std::optional<ChainOptions> chain;  // the files are shown as one
  bool allow_other = false;
  bool nonempty = false;      // what is below the mount point may be hidden
  bool auto_unmount = false;  // the mount goes if the daemon is killed
  std::optional<std::chrono::seconds> idle;
  std::optional<std::string> shown_source;  // fsname=
  std::optional<Severity> log;              // what is written at least
  LogOptions::Form log_form = LogOptions::Form::text;
  std::string log_file;                     // in place of the system's log; as it was given
  std::optional<int> lifeline;              // MountSettings::lifeline
  std::vector<std::string> kernel_options;  // noexec and the like
  std::vector<std::string> contexts;        // context=... and the like, for a kernel with SELinux
};

// Takes several -o of comma-separated options; if one is repeated, the last counts. Options that mount(8) and fstab
// give to every file system, and that have no meaning here, are ignored. Error: invalid, with the option's name.
Result<MountOptions> parse_mount_options(const std::vector<std::string>& given);
// The same for a command. Nothing after an error, which it tells on stderr: the exit code is then kExitUsage.
std::optional<MountOptions> options_or_complaint(const std::vector<std::string>& given);

// "512", "64K", "512MiB", "4g": bytes, in powers of 1024; "30MB": in powers of 1000, as in GNU's programs.
std::optional<std::uint64_t> parse_size(std::string_view);

// The default of -o memory= where `limit` bytes are there.
std::uint64_t default_memory(std::uint64_t limit);

// .tfilefs/config.json: an object of JSON, in lines or in one. `sources`: at least one.
enum class ConfigForm : std::uint8_t { lines, one_line };
std::string config_text(const std::vector<std::string>& sources, const std::string& mount_point, const MountOptions&,
                        ConfigForm);

}  // namespace tfilefs
