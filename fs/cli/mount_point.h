// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "descriptor.h"
#include "reply.h"

namespace tfilefs {

struct MountPoint {
  bool is_made = false;  // now: it was missing
  bool goes = false;     // with the mount: this program made it, now or for a mount whose daemon was killed
};

// Makes ready what is mounted on: a dead mount there goes, and a directory that is missing is made. A mount hides what
// is below it, so a directory that is not empty, a home directory and / need `nonempty`.
// Errors: not_found, invalid, busy (a mount of tfilefs); each names what helps.
Result<MountPoint> prepare_mount_point(const std::string& path, bool nonempty);

// If several mounts begin or end at a place at the same time, one goes on, and the others wait, and find the place
// as it then is. Each holds an abstract socket whose name says which directory it is: to open that would have an
// automounter mount it, and wait for this very mount. Where the name is taken for seconds, it is done without that.
class PlaceHold {
 public:
  PlaceHold() = default;
  explicit PlaceHold(const std::string& path);
  // Whether the directory that is held is still the one at the path. False if there was none.
  bool is_still_at(const std::string& path) const;
  // Another holds it, and has done so for seconds.
  bool is_of_another() const { return is_of_another_; }

 private:
  Descriptor socket_;
  std::optional<struct stat> place_;
  bool is_of_another_ = false;
};

// Removes a mount point on which nothing is mounted, and where no mount begins, other than what `hold` is for.
void remove_mount_point(const std::string& path, const PlaceHold& hold);
// The same, if this program made it.
void remove_made_mount_point(const std::string& path);

}  // namespace tfilefs
