// SPDX-License-Identifier: Apache-2.0
#include "root_file.h"

namespace tfilefs {

Result<std::shared_ptr<const tfile::File>> open_root_file(const std::string& source,
                                                          const tfile::RemoteOptions& remote) {
  const std::string name = tfile::shown_name(source);
  auto opened = tfile::open_source(source, remote);
  auto file = opened ? tfile::File::open(*std::move(opened)) : tl::unexpected(std::move(opened).error());
  if (!file && !file.error().text.starts_with(name)) file.error().text = name + ": " + file.error().text;
  return file;
}

}  // namespace tfilefs
