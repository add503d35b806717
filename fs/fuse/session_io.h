// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

struct fuse_session;
struct iovec;

namespace tfilefs {

// What libfuse reads and writes the session's descriptor through. Two things are added to what libfuse before 3.17 does
// itself: it knows FUSE_CAP_PARALLEL_DIROPS and does not tell the kernel, which then holds each directory for one
// look-up at a time, not to be killed; and it cannot ask for mmap(2) of files that are read past the kernel's pages.
// Called once, when the session is mounted. Errno's value, 0 for good.
int add_session_io(fuse_session*);

// The answer to INIT, as libfuse is about to write it, with look-ups in parallel asked for, and `maps`: mappings of
// what is read past the pages; false where it is no such answer. The parts are those of a writev.
bool extend_init(std::span<const iovec> answer, bool maps);

}  // namespace tfilefs
