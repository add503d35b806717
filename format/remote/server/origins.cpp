// SPDX-License-Identifier: Apache-2.0
#include "remote/server/origins.h"

#include <map>
#include <string>

#include "tfile/mutex.h"

namespace tfile {
namespace {

struct Origins {
  Mutex mutex{"Origins::mutex"};
  std::map<std::string, ServerId, std::less<>> numbers GUARDED_BY(mutex);
};

Origins& origins() {
  static Origins* const all = new Origins;  // never destroyed: a source may be opened while the process ends
  return *all;
}

}  // namespace

ServerId origin_of_server(std::string_view host_and_port) {
  Origins& all = origins();
  const Lock lock(all.mutex);
  const auto found = all.numbers.find(host_and_port);
  if (found != all.numbers.end()) return found->second;
  const auto next = static_cast<ServerId>(all.numbers.size() + 1);
  all.numbers.emplace(host_and_port, next);
  return next;
}

}  // namespace tfile
