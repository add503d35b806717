// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

struct fuse_session;
struct iovec;

namespace tfilefs {

// Replaces the functions through which libfuse reads and writes the session's descriptor. This adds two things that
// libfuse before 3.17 lacks. It knows FUSE_CAP_PARALLEL_DIROPS but does not tell the kernel, which then allows one
// look-up at a time per directory, and the others wait where no signal ends them. And it cannot ask for mmap(2) of
// files that are read past the kernel's pages. Called once, when the session is mounted. Returns an errno, 0 for
// success.
int add_session_io(fuse_session*);

// Adds to the answer to INIT, as libfuse is about to write it, parallel look-ups, and with `maps` mappings of files
// that are read past the pages. False if this is not such an answer. The parts are those of a writev.
bool extend_init(std::span<const iovec> answer, bool maps);

}  // namespace tfilefs
