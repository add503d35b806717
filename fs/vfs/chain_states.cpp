// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain_states.h"

#include <utility>

#include "exec/step_loop.h"

namespace tfilefs {
namespace {

using States = std::vector<ChainStatePtr>;

// Asks one after the other: mostly each answers at once.
class Asking : public std::enable_shared_from_this<Asking> {
 public:
  Asking(std::vector<std::shared_ptr<Chain>> chains, Freshness freshness, Reply<States> reply)
      : chains_(std::move(chains)), freshness_(freshness), reply_(std::move(reply)) {}

  void go_on() {
    loop_.next([self = shared_from_this()] { self->step(); });
  }

 private:
  void step() {
    if (states_.size() == chains_.size()) return reply_(std::move(states_));
    auto told = [self = shared_from_this()](Result<ChainStatePtr> state) {
      if (!state) return self->reply_(tl::unexpected<Error>(std::move(state).error()));
      self->states_.push_back(*std::move(state));
      self->go_on();
    };
    chains_[states_.size()]->current(freshness_, Reply<ChainStatePtr>(std::move(told), reply_.asker()));
  }

  const std::vector<std::shared_ptr<Chain>> chains_;
  const Freshness freshness_;
  Reply<States> reply_;
  States states_;
  StepLoop loop_;
};

}  // namespace

void current_states(std::vector<std::shared_ptr<Chain>> chains, Freshness freshness, Reply<States> reply) {
  std::make_shared<Asking>(std::move(chains), freshness, std::move(reply))->go_on();
}

}  // namespace tfilefs
