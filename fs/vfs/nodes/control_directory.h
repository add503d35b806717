// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "vfs/nodes/directory.h"

namespace tfilefs {

// A file whose text is made each time it is opened.
struct ControlFile {
  std::string name;
  std::function<std::string()> text;  // thread-safe, does not block; null: `slow_text` is there
  // Whether a caller may have it; null: every caller. A closed file shows so in its mode, too.
  std::function<void(const CallerPtr&, Reply<void>)> admit = nullptr;
  bool is_closed = false;
  // For a text that must be made on a thread that may block.
  std::function<void(Reply<std::string>)> slow_text = nullptr;
};

// One such file, at any place.
Entry make_control_file(const ControlFile&, Ownership);

// .tfilefs: a directory of such files, with the owner and times of the daemon. `sync` is called for fsync(2) on it,
// `discard` when the user who mounted, or root, sets kDiscardAttribute.
struct ControlRequests {
  std::function<void(Reply<void>)> sync, discard;
};
Entry make_control_directory(const std::vector<ControlFile>&, Ownership, ControlRequests);

}  // namespace tfilefs
