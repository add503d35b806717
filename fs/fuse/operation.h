// SPDX-License-Identifier: Apache-2.0
// Shared by the operations: how one is run, and how its answer looks to the kernel.
#pragma once

#include <fcntl.h>
#include <fuse_lowlevel.h>

#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "fuse/fuse_reply.h"
#include "fuse/operations.h"
#include "vfs/nodes/attributes.h"

namespace tfilefs {

inline Served& served(fuse_req_t request) { return *static_cast<Served*>(fuse_req_userdata(request)); }

inline CallerPtr caller_of(fuse_req_t request) { return caller_of(request, served(request).trust); }

// The one place where exceptions end. Those that get here are bugs or a lack of memory.
template <class Operation>
void run(fuse_req_t request, RequestKind kind, Operation operation, Interrupts interrupts = Interrupts::stops) {
  FileSystem& fs = *served(request).file_system;
  const auto pending = std::make_shared<PendingRequest>(request, RequestClock(fs.request_times(), kind), interrupts,
                                                        served(request).end, fs.timers());
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

template <class Operation>
void run_change(fuse_req_t request, RequestKind kind, Operation operation) {
  run(request, kind, std::move(operation), Interrupts::fatal);
}

// Whether a thread of this process asks: a source leads into the mount itself. Such a thread may be what the answer
// waits for.
bool asks_itself(fuse_req_t);

// The same for what begins a way into the mount.
template <class Operation>
void run_for_others(fuse_req_t request, RequestKind kind, Operation operation) {
  if (asks_itself(request))
    fuse_reply_err(request, EDEADLK);
  else
    run(request, kind, std::move(operation));
}

struct stat stat_of(const Attributes&);
// Seconds for which the kernel may cache the attributes. 0 for files that can be written: the kernel may know such a
// file as two inodes, one for the committed entries and one for those behind them. 0 as well where the size is not
// known yet.
double attribute_timeout(const Attributes&);
fuse_entry_param entry_of(InodeId, const Attributes&);

// How the kernel is to treat an opened file. A file opened only to write is not read through the same descriptor, so
// its bytes bypass the page cache: else the kernel's pages take half of the time of a large `cp`. So do those of a file
// opened only to read that may grow: if a page is read while the file gets longer, a reader that was told the new size
// would see zeros behind the old end. And so do those of a file that other programs may change: the kernel would show
// pages from before the change, since it learns of it from size and times alone.
fuse_file_info opened_as(const Served&, fuse_file_info, const FileSystem::Opened&);

// For a name found or made; the answer counts as one lookup.
Reply<FileSystem::Found> reply_found(FileSystem&, const PendingPtr&);
Reply<FileSystem::Opened> reply_opened(const Served&, const PendingPtr&, fuse_ino_t, const fuse_file_info&);
Reply<void> reply_done(const PendingPtr&);

// Makes the kernel ask for the attributes of an inode again before it next uses them. May be called while a request for
// the inode is being answered.
void forget_attributes(fuse_session*, InodeId);

// How a session tells its kernel. Each notice blocks until the requests that follow from it are answered, and does
// nothing once a signal ends the session. Pages are forgotten only if the file system has locks.
KernelNotices kernel_notices(Served&);

// Adds the operations that write to a mount; without them each answers ENOSYS.
void add_change_operations(fuse_lowlevel_ops&);

}  // namespace tfilefs
