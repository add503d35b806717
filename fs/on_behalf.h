// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <type_traits>
#include <utility>

#include "reply.h"

namespace tfilefs {

// A reply for one step on the way to another reply: then(result, reply) gets both. It shares the stop token of that
// reply, so that the step is given up when nobody waits any more. (A Reply that is made of a function alone has no stop
// token.)
template <class T, class Step, class Then>
Reply<T> on_behalf_of(Reply<Step> reply, Then then) {
  std::stop_token stop = reply.stop_token();
  return Reply<T>([reply = std::move(reply),
                   then = std::move(then)](Result<T> result) mutable { then(std::move(result), std::move(reply)); },
                  std::move(stop));
}

// The same where only a value goes on, then(value, reply): an error is answered at once. Of a step without a value
// then(reply) is called.
template <class T, class Step, class Then>
Reply<T> value_for(Reply<Step> reply, Then then) {
  return on_behalf_of<T>(std::move(reply), [then = std::move(then)](Result<T> result, Reply<Step> told) mutable {
    if (!result) return told(tl::unexpected(std::move(result).error()));
    if constexpr (std::is_void_v<T>)
      then(std::move(told));
    else
      then(*std::move(result), std::move(told));
  });
}

// The same where the step's answer is made of the value: make(value), or nothing if that returns nothing. The value is
// gone when it is answered, so that whoever waits for its memory gets it.
template <class T, class Step, class Make>
Reply<T> answer_with(Reply<Step> reply, Make make) {
  return on_behalf_of<T>(std::move(reply), [make = std::move(make)](Result<T> result, Reply<Step> told) mutable {
    if (!result) return told(tl::unexpected(std::move(result).error()));
    const auto made = [&] {
      if constexpr (std::is_void_v<T>)
        return make();
      else
        return make(T(*std::move(result)));
    };
    if constexpr (std::is_void_v<decltype(made())>) {
      made();
      told({});
    } else {
      told(made());
    }
  });
}

}  // namespace tfilefs
