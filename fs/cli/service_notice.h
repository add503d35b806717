// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tfilefs {

// Tells systemd, or another manager of services, of this one: READY=1, STATUS=..., STOPPING=1 (sd_notify(3)).
class ServiceNotice {
 public:
  // Takes NOTIFY_SOCKET out of the environment, so that no child of this process speaks for it.
  ServiceNotice();
  // Nothing happens if nobody wants to know. Never waits. `lines`: assignments, one on each line.
  void tell(const std::string& lines) const;

 private:
  std::string socket_;
};

}  // namespace tfilefs
