// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cache/cluster_cache.h"
#include "content.h"
#include "tfile/pieced_text.h"

namespace tfilefs {

// The file that consists of a text in pieces, each of which is made when it is read. `payload`: the stream of bytes
// that the pieces are made of.
std::shared_ptr<Content> pieced_content(std::shared_ptr<CachedStreams> payload,
                                        std::shared_ptr<const tfile::PiecedText>);

}  // namespace tfilefs
