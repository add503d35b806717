// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "http/request.h"
#include "http/text_source.h"
#include "reply.h"

namespace tfilefs {

// The means that a browser lets a page use. `source`: a file of the source, which may be of anybody: no scripts,
// and no access to the rest of the site. `page`: a page of this program, with its own style and scripts.
enum class PagePolicy : std::uint8_t { source, page };

// A response with the headers that each has: nobody frames it, guesses its type, or learns of it from a link.
HttpResponse bare_response(int status, PagePolicy);

HttpResponse text_response(int status, std::string text, std::string type = "text/plain; charset=utf-8",
                           PagePolicy policy = PagePolicy::source);

// The same of a text that is made while it is sent; without its size, if it has more than one piece.
void made_response(int status, std::shared_ptr<TextSource>, std::string type, PagePolicy, Reply<HttpResponse>);

HttpResponse error_response(const Error&);

}  // namespace tfilefs
