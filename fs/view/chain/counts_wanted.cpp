// SPDX-License-Identifier: Apache-2.0
#include "view/chain/counts_wanted.h"

#include <stop_token>
#include <utility>

#include "exec/step_loop.h"

namespace tfilefs {
namespace {

class Wanting : public std::enable_shared_from_this<Wanting> {
 public:
  Wanting(std::vector<CountId> ids, std::function<bool(CountId)> is_known,
          std::function<void(CountId, Reply<StartsPtr>)> want, Reply<void> reply)
      : ids_(std::move(ids)),
        is_known_(std::move(is_known)),
        want_(std::move(want)),
        asker_(reply.asker()),
        reply_(std::move(reply)) {}

  void next() {
    loop_.next([this, self = shared_from_this()] { step(); });
  }

 private:
  void step() {
    while (!ids_.empty() && is_known_(ids_.back())) ids_.pop_back();
    if (ids_.empty()) return reply_({});
    auto told = [self = shared_from_this()](const Result<StartsPtr>& starts) {
      if (!starts) return self->reply_(tl::unexpected<Error>(starts.error()));
      self->next();
    };
    want_(ids_.back(), Reply<StartsPtr>(std::move(told), asker_));
  }

  std::vector<CountId> ids_;
  const std::function<bool(CountId)> is_known_;
  const std::function<void(CountId, Reply<StartsPtr>)> want_;
  const std::stop_token asker_;
  Reply<void> reply_;
  StepLoop loop_;
};

}  // namespace

void want_unknown_counts(std::vector<CountId> ids, std::function<bool(CountId)> is_known,
                         std::function<void(CountId, Reply<StartsPtr>)> want, Reply<void> reply) {
  std::make_shared<Wanting>(std::move(ids), std::move(is_known), std::move(want), std::move(reply))->next();
}

}  // namespace tfilefs
