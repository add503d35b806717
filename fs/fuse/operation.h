// SPDX-License-Identifier: Apache-2.0
// What the operations have in common: how one is run, and how its answers look to the kernel.
#pragma once

#include <fcntl.h>
#include <fuse_lowlevel.h>

#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "fuse/fuse_reply.h"
#include "fuse/operations.h"

namespace tfilefs {

inline Served& served(fuse_req_t request) { return *static_cast<Served*>(fuse_req_userdata(request)); }

inline CallerPtr caller_of(fuse_req_t request) { return caller_of(request, served(request).trust); }

// The one place where exceptions end: what reaches it is a bug or a lack of memory.
template <class Operation>
void run(fuse_req_t request, Operation operation) {
  const auto pending = std::make_shared<PendingRequest>(request, served(request).end);
  FileSystem& fs = *served(request).file_system;
  try {
    operation(fs, pending);
  } catch (const std::bad_alloc&) {
    if (pending->claim()) fuse_reply_err(request, ENOMEM);
  } catch (const std::exception& error) {
    fs.errors().add("/", std::string("internal error: ") + error.what());
    if (pending->claim()) fuse_reply_err(request, EIO);
  }
  pending->honour_interrupts();
}

struct stat stat_of(const Attributes&);
// Seconds for which the kernel may believe them: of what can be written it asks each time, since it may know it as two
// inodes, what is committed and what goes on behind it. Where the size is not known yet it asks before it shows one.
double attribute_timeout(const Attributes&);
fuse_entry_param entry_of(InodeId, const Attributes&);

// How the kernel is to treat an opened file. What is opened only to write is not read through the same descriptor, so
// its bytes go straight from the writer's memory to ours: half of the time of a large `cp` is the kernel's pages else.
// Nor is what is only read while it may grow: of a page that is read while the file gets longer the kernel shows zeros
// behind the old end to who was told the new one.
fuse_file_info opened_as(const Served&, fuse_file_info, const FileSystem::Opened&);

// A name found or made, counted as one lookup.
Reply<FileSystem::Found> reply_found(FileSystem&, const PendingPtr&);
Reply<FileSystem::Opened> reply_opened(const Served&, const PendingPtr&, fuse_ino_t, const fuse_file_info&);
Reply<void> reply_done(const PendingPtr&);

}  // namespace tfilefs
