// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "reply.h"

struct fuse_session;

namespace tfilefs {

struct Served;

// Answers INIT, the first request of a session that was just mounted. libfuse makes the answer, and two things are
// added that it lacks before 3.17. It knows FUSE_CAP_PARALLEL_DIROPS but does not tell the kernel, which then allows
// one look-up at a time per directory, and the others wait where no signal ends them. And it cannot ask for mmap(2) of
// files that are read past the kernel's pages. Blocks until the kernel has asked. Error: io.
Result<> answer_init(fuse_session*, const Served&);

// Adds to the answer to INIT parallel look-ups, and with `maps` mappings of files that are read past the pages. False
// if this is not such an answer.
bool extend_init(std::span<std::byte> answer, bool maps);

}  // namespace tfilefs
