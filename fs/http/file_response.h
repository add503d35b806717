// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "http/request.h"
#include "http/response_body.h"
#include "http/validators.h"

namespace tfilefs {

// A file that was opened for a request.
struct OpenedFile {
  std::shared_ptr<const ServedFile> file;
  std::uint64_t size = 0;
  Validators validators;
  std::string type;  // of its bytes
};

// The response to GET and HEAD: all of the file, some of its bytes, or that it has not changed.
HttpResponse file_response(const HttpRequest&, const OpenedFile&, std::time_t now);

}  // namespace tfilefs
