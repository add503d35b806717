// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tfilefs {

// Exit codes of every command; docs and --help name them.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;  // said on stderr in one line
inline constexpr int kExitUsage = 2;    // the command line has no meaning

// Each takes main's arguments, the command's own name in argv[0], and gives the exit code.
int run_mount(int argc, char** argv);
int run_umount(int argc, char** argv);
int run_ls(int argc, char** argv);
int run_map(int argc, char** argv);
int run_check(int argc, char** argv);
int run_stats(int argc, char** argv);
int run_classes(int argc, char** argv);
int run_commit(int argc, char** argv);
int run_recover(int argc, char** argv);

}  // namespace tfilefs
