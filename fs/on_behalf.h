// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
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
  return on_behalf_of<T>(std::move(reply), [then = std::move(then)](Result<T> result, Reply<Step> done) mutable {
    if (!result) return done(tl::unexpected(std::move(result).error()));
    if constexpr (std::is_void_v<T>)
      then(std::move(done));
    else
      then(*std::move(result), std::move(done));
  });
}

// The same for a step that looks for something: then(std::optional<T>, reply) with what it found, or nothing if that is
// not there.
template <class T, class Step, class Then>
Reply<T> found_or_not(Reply<Step> reply, Then then) {
  return on_behalf_of<T>(std::move(reply), [then = std::move(then)](Result<T> result, Reply<Step> done) mutable {
    if (result) return then(std::optional<T>(*std::move(result)), std::move(done));
    if (result.error().kind != ErrorKind::not_found) return done(tl::unexpected(std::move(result).error()));
    then(std::optional<T>(), std::move(done));
  });
}

// The same where the step's answer is made of the value: make(value), or nothing if that returns nothing. The value is
// gone when it is answered, so that whoever waits for its memory gets it.
template <class T, class Step, class Make>
Reply<T> answer_with(Reply<Step> reply, Make make) {
  return on_behalf_of<T>(std::move(reply), [make = std::move(make)](Result<T> result, Reply<Step> done) mutable {
    if (!result) return done(tl::unexpected(std::move(result).error()));
    const auto made = [&] {
      if constexpr (std::is_void_v<T>)
        return make();
      else
        return make(T(*std::move(result)));
    };
    if constexpr (std::is_void_v<decltype(made())>) {
      made();
      done({});
    } else {
      done(made());
    }
  });
}

// The same where the answer, a Result, is made of the step's result, be that a value or an error.
template <class T, class Step, class Make>
Reply<T> answer_of_result(Reply<Step> reply, Make make) {
  return on_behalf_of<T>(std::move(reply), [make = std::move(make)](Result<T> result, Reply<Step> done) mutable {
    done(make(std::move(result)));
  });
}

// A reply that goes on with the result as it is, once look(result) has seen it, and perhaps changed it.
template <class T, class Look>
Reply<T> seen_by(Reply<T> reply, Look look) {
  return on_behalf_of<T>(std::move(reply), [look = std::move(look)](Result<T> result, Reply<T> done) mutable {
    look(result);
    done(std::move(result));
  });
}

// A reply whose steps are not given up, whatever signal comes: of what is begun, and must come to its end.
template <class T>
Reply<T> uninterrupted(Reply<T> reply) {
  reply.set_stop_token({});
  return reply;
}

}  // namespace tfilefs
