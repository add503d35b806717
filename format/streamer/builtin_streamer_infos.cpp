// SPDX-License-Identifier: Apache-2.0
#include "streamer/streamer_info.h"

namespace tfile {

const std::vector<StreamerInfo>& builtin_streamer_infos() {
  static const std::vector<StreamerInfo> infos;
  return infos;
}

}  // namespace tfile
