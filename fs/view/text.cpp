// SPDX-License-Identifier: Apache-2.0
#include "view/view.h"

namespace tfilefs {

void text_content(std::shared_ptr<CachedStreams>, std::shared_ptr<const tfile::Table>, tfile::NodeId,
                  Reply<std::shared_ptr<Content>> reply) {
  reply(tfile::fail(ErrorKind::unsupported, "there is no text view of this node"));
}

}  // namespace tfilefs
