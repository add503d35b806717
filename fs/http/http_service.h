// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "http/access.h"
#include "http/directory_items.h"
#include "http/request.h"
#include "http/request_path.h"
#include "reply.h"
#include "vfs/file_system.h"
#include "vfs/held.h"

namespace tfilefs {

struct ServiceSettings {
  std::string token;               // is_good_token()
  std::string cookie;              // cookie_name()
  std::vector<std::string> hosts;  // names of this server, as in the header "Host", beside addresses and localhost
};

// The tree of a source by HTTP: GET and HEAD of its files, with ranges; listings of its directories; WebDAV for
// reading. Requests become calls of FileSystem, as those of the kernel do. Thread-safe.
class HttpService {
 public:
  // The file system outlives this.
  HttpService(FileSystem& fs, ServiceSettings settings) : fs_(fs), settings_(std::move(settings)) {}

  // The answer to a request that is not let in, or that needs nothing of the source: its method, its token or its host
  // are not good, or it asks for a file of the page. Of any other, the path in the source.
  std::variant<HttpResponse, RequestPath> judge(const HttpRequest&) const;

  // The answer to a request for that path. Never an error: it becomes a response. Does not block.
  void answer(std::shared_ptr<const HttpRequest>, RequestPath, Reply<HttpResponse>) const;

 private:
  std::optional<HttpResponse> refusal(const HttpRequest&) const;

  FileSystem& fs_;
  const ServiceSettings settings_;
  const std::shared_ptr<ListedNames> listed_ = std::make_shared<ListedNames>();
};

}  // namespace tfilefs
