// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "tfile/result.h"

namespace tfile {

// The URL of a file named relative to the directory of another one's URL. The query string is kept. In URLs of HTTP the
// name is percent-encoded; XRootD takes it as it is. Errors: not_found (no name), denied (the name is absolute, leads
// out of the directory, or would be no path in a URL).
Result<std::string> sibling_url(std::string_view url, std::string_view relative);

// The URL without what gives access: names and passwords before "@", and the values of parameters that may be tokens or
// signatures. For messages.
std::string without_secrets(std::string_view url);

// The text of a server, in which it may repeat parts of the URL, without what without_secrets() leaves out of that URL.
std::string without_secrets_of(std::string_view url, std::string text);

}  // namespace tfile
