// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tfilefs {

// Exit codes of every command; docs and --help name them.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;  // reported on stderr in one line
inline constexpr int kExitUsage = 2;    // the command line is invalid
// Those of check are fsck's, and are added up.
inline constexpr int kCheckErrors = 4;
inline constexpr int kCheckIncomplete = 8;
inline constexpr int kCheckUsage = 16;

// Each takes main's arguments, with the command's own name in argv[0], and returns the exit code.
int run_mount(int argc, char** argv);
int run_umount(int argc, char** argv);
int run_ls(int argc, char** argv);
int run_info(int argc, char** argv);
int run_cat(int argc, char** argv);
int run_cp(int argc, char** argv);
int run_browse(int argc, char** argv);
int run_serve(int argc, char** argv);
int run_map(int argc, char** argv);
int run_check(int argc, char** argv);
int run_stats(int argc, char** argv);
int run_classes(int argc, char** argv);
int run_commit(int argc, char** argv);
int run_recover(int argc, char** argv);
int run_repack(int argc, char** argv);
int run_draw(int argc, char** argv);
int run_advise(int argc, char** argv);
int run_doctor(int argc, char** argv);
int run_help(int argc, char** argv);
int run_version(int argc, char** argv);
int run_completion(int argc, char** argv);
int run_complete(int argc, char** argv);

// The message for a first argument that is neither a subcommand nor likely to be a source: a word without '/' and '.'
// for which there is no file. Nothing if it may be a source.
std::optional<std::string> no_such_command(std::string_view argument);

}  // namespace tfilefs
