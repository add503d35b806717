// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <vector>

#include "vfs/nodes/caller.h"

namespace tfilefs {

// While this object lives, this thread accesses the host's file systems with a caller's user, group and supplementary
// groups, and without the capabilities that would override them: the kernel decides. It affects this thread only, and
// must not be nested.
class ActingFor {
 public:
  // Whether this process may take other ids: it is root's.
  static bool is_possible();

  // `caller` null, or not possible: changes nothing.
  explicit ActingFor(const CallerPtr& caller);
  ~ActingFor();
  ActingFor(const ActingFor&) = delete;
  ActingFor& operator=(const ActingFor&) = delete;

  // False if the ids could not be taken. Nothing may be done then.
  explicit operator bool() const { return !failed_; }

 private:
  bool acts_ = false;
  bool failed_ = false;
  std::vector<gid_t> own_groups_;
};

}  // namespace tfilefs
