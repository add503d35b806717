// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <vector>

#include "vfs/caller.h"

namespace tfilefs {

// While it lives, what this thread asks of the host's file systems is asked with a caller's user, group and
// supplementary groups, and without the capabilities that would overrule them: the kernel decides. Of this thread
// alone; not to be nested.
class ActingFor {
 public:
  // Whether this process may take the ids of others: it is root's.
  static bool is_possible();

  // `caller` null, or not possible: changes nothing.
  explicit ActingFor(const CallerPtr& caller);
  ~ActingFor();
  ActingFor(const ActingFor&) = delete;
  ActingFor& operator=(const ActingFor&) = delete;

  // False: the ids could not be taken. Nothing may be done then.
  explicit operator bool() const { return !failed_; }

 private:
  bool acts_ = false;
  bool failed_ = false;
  std::vector<gid_t> own_groups_;
};

}  // namespace tfilefs
