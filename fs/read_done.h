// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "reply.h"
#include "tfile/source.h"

namespace tfilefs {

// A source calls it at the end of a read that it has started. If it is dropped without a call, as when something
// throws on the way, the reply answers.
inline tfile::Source::ReadDone read_done(Reply<void> reply) {
  auto shared = std::make_shared<Reply<void>>(std::move(reply));  // std::function must be copyable
  return [shared](Result<> result) { (*shared)(std::move(result)); };
}

}  // namespace tfilefs
