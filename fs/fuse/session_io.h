// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

struct fuse_session;
struct iovec;

namespace tfilefs {

// What libfuse reads and writes the session's descriptor through. One thing is added to what libfuse does itself: its
// versions before 3.17 know FUSE_CAP_PARALLEL_DIROPS and do not tell the kernel, which then holds each directory for
// one look-up at a time, not to be killed. Called once, when the session is mounted. Errno's value, 0 for good.
int add_session_io(fuse_session*);

// The answer to INIT, as libfuse is about to write it, with look-ups in parallel asked for; false where it is no such
// answer. The parts are those of a writev.
bool ask_for_parallel_lookups(std::span<const iovec> answer);

}  // namespace tfilefs
