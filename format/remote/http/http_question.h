// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tfile/source.h"

namespace tfile {

// A request that is not for bytes of a file, and of which one status is the answer that is wanted.
struct HttpQuestion {
  std::string url;    // of the scheme http or https
  std::string shown;  // for messages
  std::string method, body;
  std::vector<std::string> headers;  // whole lines
  bool is_s3 = false;                // signed with the user's keys
  long wanted = 200;
  // Called at the beginning of each answer of that status, and with the bytes of its body: on another thread, before
  // ask() returns. An error ends the question.
  std::function<void()> begin;
  std::function<Result<>(std::span<const std::byte>)> take;
};

// The answer, of any status, from the URL to which redirects led.
struct HttpReply {
  long status = 0;
  std::string url;
};

// Asks, and asks again while the server is busy or its answer breaks off, for options.timeout in all; an answer that
// goes on to come is waited for. Counts what it sends and gets. Blocks. Errors: io, timed_out, those of `take`.
Result<HttpReply> ask(const HttpQuestion&, const RemoteOptions& options, SourceCounts& counts);

// The error that a status stands for which was not wanted.
tl::unexpected<Error> refused_with(const HttpQuestion&, long status);

}  // namespace tfile
