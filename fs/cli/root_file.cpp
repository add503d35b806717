// SPDX-License-Identifier: Apache-2.0
#include "cli/root_file.h"

#include <unistd.h>

namespace tfilefs {

Result<> refuse_url(const std::string& source) {
  if (source.find("://") == std::string::npos || ::access(source.c_str(), F_OK) == 0) return {};
  return tfile::fail(ErrorKind::invalid, source + ": is a URL, and only local files are read: copy it here first");
}

Result<std::shared_ptr<const tfile::File>> open_root_file(const std::string& source) {
  TRY(auto opened, tfile::open_source(source));
  const std::string name = opened->name();  // of a URL, without what is secret in it
  auto file = tfile::File::open(std::move(opened));
  if (!file && !file.error().text.starts_with(name)) file.error().text = name + ": " + file.error().text;
  return file;
}

}  // namespace tfilefs
