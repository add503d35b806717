// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reply.h"

namespace tfilefs {

// A text that is made while it is sent, so that it need not be held.
class TextSource {
 public:
  virtual ~TextSource() = default;
  // The next piece, which is not empty. One call at a time, while is_more(). Does not block.
  virtual void next(Reply<std::string>) = 0;
  virtual bool is_more() const = 0;
};

}  // namespace tfilefs
