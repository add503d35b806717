// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mutex.h"
#include "reply.h"

namespace tfilefs {

// Whether an error says something about the bytes, which do not change, rather than about this attempt to read them.
inline bool is_lasting(const Error& error) {
  switch (error.kind) {
    case ErrorKind::damaged:
    case ErrorKind::unsupported:
    case ErrorKind::invalid:
      return true;
    default:
      return false;
  }
}

// A value that is made at most once, however many ask, and then remembered; so are lasting errors. Thread-safe; no lock
// is held while it is made or while anyone is answered.
template <class T>
class Once {
 public:
  // Answers with the value: now if it is there, else when `start`, called by the first to ask, has answered.
  template <class Start>
  void get(Start&& start, Reply<T> reply) {
    std::optional<Result<T>> known;
    {
      const Lock lock(state_->mutex);
      if (state_->result) {
        known = state_->result;
      } else {
        state_->waiters.push_back(std::move(reply));
        if (std::exchange(state_->running, true)) return;
      }
    }
    if (known) return reply(*std::move(known));
    start(Reply<T>([state = state_](Result<T> result) { finish(*state, std::move(result)); }));
  }

  std::optional<T> peek() const {
    const Lock lock(state_->mutex);
    if (!state_->result || !*state_->result) return std::nullopt;
    return **state_->result;
  }

 private:
  struct State {
    Mutex mutex;
    std::optional<Result<T>> result GUARDED_BY(mutex);
    bool running GUARDED_BY(mutex) = false;
    std::vector<Reply<T>> waiters GUARDED_BY(mutex);
  };
  static void finish(State& state, Result<T> result) {
    std::vector<Reply<T>> waiters;
    {
      const Lock lock(state.mutex);
      if (result || is_lasting(result.error())) state.result = result;
      state.running = false;
      waiters.swap(state.waiters);
    }
    for (Reply<T>& waiter : waiters) waiter(result);
  }

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace tfilefs
