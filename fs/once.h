// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
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

// A value that is made at most once, however many callers ask, and then remembered; so are lasting errors. Its making
// is asked to stop when none of its callers waits any more; the next caller begins it anew. Thread-safe. No lock is
// held while it is made or while callers are answered. Where memory is wanting, callers are answered all the same, and
// the next one begins it anew.
template <class T>
class Once {
 public:
  // Answers with the value: now if it is there, else when `start`, called by the first to ask, has answered.
  template <class Start>
  void get(Start&& start, Reply<T> reply) {
    std::optional<Result<T>> known;
    bool begins = false;
    Reply<T> made;
    typename Attempt::Waiter waiter{std::move(reply), nullptr};
    {
      const Lock lock(state_->mutex);
      if (state_->result) {
        known = state_->result;
      } else {
        std::shared_ptr<Attempt> making = state_->making;
        begins = !making || !making->is_joined();
        if (begins) {
          making = std::make_shared<Attempt>();
          made = Reply<T>([state = state_, making](Result<T> result) { finish(*state, making, std::move(result)); },
                          making->stop.get_token());
        }
        making->add(making, waiter);
        state_->making = std::move(making);  // last: others would wait for one that is not begun
      }
    }
    if (known) return waiter.reply(*std::move(known));
    if (begins) start(std::move(made));
  }

  std::optional<T> peek() const {
    const Lock lock(state_->mutex);
    if (!state_->result || !*state_->result) return std::nullopt;
    return **state_->result;
  }

 private:
  // One attempt to make it, and the replies that wait for it. Guarded by the state's mutex, except `waiting` and
  // `stop`.
  struct Attempt {
    struct Gone {
      std::weak_ptr<Attempt> making;
      void operator()() const {
        if (const auto of = making.lock(); of && --of->waiting == 0) of->stop.request_stop();
      }
    };
    struct Waiter {
      Reply<T> reply;
      std::unique_ptr<std::stop_callback<Gone>> gone;
    };
    // Counts one more waiting caller; false where the last one has gone.
    bool is_joined() {
      std::size_t now = waiting;
      while (now > 0 && !waiting.compare_exchange_weak(now, now + 1)) {
      }
      return now > 0;
    }
    void add(const std::weak_ptr<Attempt>& self, Waiter& waiter) try {
      waiter.gone = std::make_unique<std::stop_callback<Gone>>(waiter.reply.stop_token(), Gone{self});
      waiters.push_back(std::move(waiter));
    } catch (...) {
      waiter.gone.reset();
      Gone{self}();
      throw;
    }
    std::vector<Waiter> waiters;
    std::atomic<std::size_t> waiting = 1;  // the caller that begins it
    std::stop_source stop;
  };
  struct State {
    Mutex mutex{"State::mutex"};
    std::optional<Result<T>> result GUARDED_BY(mutex);
    std::shared_ptr<Attempt> making GUARDED_BY(mutex);  // null: none is under way that could be joined
  };
  static void finish(State& state, const std::shared_ptr<Attempt>& making, Result<T> result) {
    std::vector<typename Attempt::Waiter> waiters;
    {
      const Lock lock(state.mutex);
      if (state.making == making) state.making = nullptr;
      waiters.swap(making->waiters);
      if (result || is_lasting(result.error())) state.result = result;
    }
    for (auto& waiter : waiters) waiter.reply(result);
  }

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace tfilefs
