// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fuse_lowlevel.h>

#include <atomic>
#include <stop_token>

#include "vfs/file_system.h"
#include "vfs/nodes/attributes.h"
#include "vfs/nodes/caller.h"

namespace tfilefs {

// The users of a mount who are trusted like the user who mounted it.
struct Trust {
  bool is_shared = false;  // other users are let in at all
  Ownership ownership;     // the user and group that uid= and gid= gave the mount to
};

// The caller of a request; null for a trusted one: the user who mounted, root, and those to whom the mount was given.
// To be called before the request is answered, since it looks at the calling process.
CallerPtr caller_of(fuse_req_t, const Trust&);

// The file system that a session serves, and its state: the session's userdata.
struct Served {
  FileSystem* file_system = nullptr;
  fuse_session* session = nullptr;
  Trust trust;
  // Whether the kernel drops its pages of bytes that are written past them, and can map files that are read past them.
  // Set before the first operation.
  bool coherent_direct_io = false;
  std::stop_source end;              // of the session
  std::atomic<int> kernel_work = 0;  // calls of forget_pages and forget_name, which wait for requests to be answered
  std::atomic<int> end_signal = 0;   // the signal that ends the session
  pid_t own_process = 0;             // as the kernel names it in requests; 0: not known
};

// The table of op_*. Each unpacks a request, calls the FileSystem, and passes a Reply to it.
const fuse_lowlevel_ops& operations();

}  // namespace tfilefs
