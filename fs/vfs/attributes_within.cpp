// SPDX-License-Identifier: Apache-2.0
#include "vfs/attributes_within.h"

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "mutex.h"

namespace tfilefs {
namespace {

constexpr std::chrono::milliseconds kSoon{50};
// The kernel asks for the size at once, within the same system call; but on a busy machine that takes a while.
constexpr std::chrono::milliseconds kMoment{500};

// A question that is answered once: with the size, or by the timer, whichever comes first.
class Question {
 public:
  explicit Question(Reply<Attributes> reply) : gone_(reply.stop_token(), Gone{wanted_}), reply_(std::move(reply)) {}

  // Stopped when no request wants the size any more.
  std::stop_token stop_token() const { return wanted_.get_token(); }
  void leave() { wanted_.request_stop(); }

  bool is_answered() const EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    return !reply_;
  }
  // False if it was answered before.
  bool answer(Result<Attributes> attributes) EXCLUDES(mutex_) {
    std::optional<Reply<Attributes>> reply;
    {
      const Lock lock(mutex_);
      reply.swap(reply_);
    }
    if (reply) (*reply)(std::move(attributes));
    return reply.has_value();
  }

 private:
  struct Gone {
    std::stop_source wanted;
    void operator()() { wanted.request_stop(); }
  };
  std::stop_source wanted_;
  const std::stop_callback<Gone> gone_;
  mutable Mutex mutex_{"Question::mutex_"};
  std::optional<Reply<Attributes>> reply_ GUARDED_BY(mutex_);
};

}  // namespace

void attributes_within(Timers& timers, const Entry& entry, Reply<Attributes> reply) {
  const Vnodes& vnodes = *entry.vnodes;
  if (auto known = vnodes.known_attributes(entry.vnode)) return reply(*std::move(known));
  const auto brief = vnodes.attributes_but_size(entry.vnode);
  if (!brief) return vnodes.attributes(entry.vnode, std::move(reply));
  const auto question = std::make_shared<Question>(std::move(reply));
  auto found = [question](Result<Attributes> attributes) { question->answer(std::move(attributes)); };
  vnodes.attributes(entry.vnode, Reply<Attributes>(std::move(found), question->stop_token()));
  if (question->is_answered()) return;
  timers.after(kSoon, [&timers, question, brief = *brief]() mutable {
    brief.size_is_known = false;
    if (question->answer(brief)) timers.after(kMoment, [question] { question->leave(); });
  });
}

}  // namespace tfilefs
