// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fuse_lowlevel.h>

#include <atomic>
#include <stop_token>

#include "fuse/caller_of.h"
#include "vfs/file_system.h"

namespace tfilefs {

// What a session serves: its userdata.
struct Served {
  FileSystem* file_system = nullptr;
  fuse_session* session = nullptr;
  Trust trust;
  // Whether the kernel drops its pages of bytes that are written past them, and can map files that are read past them.
  // Set before the first operation.
  bool coherent_direct_io = false;
  std::atomic<bool> init_is_answered = false;  // fuse/session_io.h
  std::stop_source end;                        // of the session
};

// The table of op_*. Each unpacks a request, calls the FileSystem, and passes a Reply to it.
const fuse_lowlevel_ops& operations();

}  // namespace tfilefs
