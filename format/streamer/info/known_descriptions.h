// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "streamer/info/streamer_info.h"

namespace tfile {

// The descriptions that files have of their classes. Bytes of objects name a class by its version, so many files can be
// read together only where each version means the same members in all of them. Programs may give two layouts one
// version, and a checksum knows nothing of the ranges of packed numbers: contents are compared.
class KnownDescriptions {
 public:
  // The classes of files taken before that another one describes otherwise under the same version.
  std::vector<std::string> contradicted_by(const StreamerInfos&) const;
  // Remembers those that are not known yet.
  void take(std::shared_ptr<const StreamerInfos>);

 private:
  std::map<std::pair<std::string, int>, const StreamerInfo*> known_;  // by name and version
  std::vector<std::shared_ptr<const StreamerInfos>> taken_;           // they own these
};

// Whether objects of these types may have one of these classes in them: as they are declared, or through pointers and
// collections of ROOT, which hold any class.
bool may_hold(const StreamerInfos&, std::span<const std::string> types, std::span<const std::string> classes);

}  // namespace tfile
