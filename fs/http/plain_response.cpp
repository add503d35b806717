// SPDX-License-Identifier: Apache-2.0
#include "http/plain_response.h"

#include <utility>

#include "http/error_status.h"
#include "on_behalf.h"

namespace tfilefs {

HttpResponse bare_response(int status, PagePolicy policy) {
  // Nothing runs in a page of the source. Its images are of this server, and need the cookie.
  constexpr const char* kOfSource =
      "default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'; frame-ancestors 'none'; "
      "sandbox allow-same-origin";
  constexpr const char* kOfPage =
      "default-src 'none'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; connect-src 'self'; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  HttpResponse response;
  response.status = status;
  response.headers = {{"Content-Security-Policy", policy == PagePolicy::page ? kOfPage : kOfSource},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Resource-Policy", "same-origin"}};
  return response;
}

HttpResponse text_response(int status, std::string text, std::string type, PagePolicy policy) {
  HttpResponse response = bare_response(status, policy);
  response.headers.emplace_back("Content-Type", std::move(type));
  response.headers.emplace_back("Cache-Control", "no-store");
  response.body = ResponseBody(std::move(text));
  return response;
}

void made_response(int status, std::shared_ptr<TextSource> source, std::string type, PagePolicy policy,
                   Reply<HttpResponse> reply) {
  TextSource& text = *source;
  auto take = [status, source = std::move(source), type = std::move(type), policy](std::string begin) mutable {
    if (!source->is_more()) return text_response(status, std::move(begin), std::move(type), policy);
    HttpResponse response = text_response(status, "", std::move(type), policy);
    response.body = ResponseBody(std::move(source), std::move(begin));
    return response;
  };
  text.next(answer_with<std::string>(std::move(reply), std::move(take)));
}

HttpResponse error_response(const Error& error) {
  HttpResponse response = text_response(status_of(error), error.text + "\n");
  if (error.kind == ErrorKind::stale || error.kind == ErrorKind::busy)
    response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace tfilefs
