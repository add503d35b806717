// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "reply.h"
#include "tfile/file.h"
#include "tfile/source.h"
#include "vfs/names/chain_names.h"

namespace tfilefs {

// The files that a copy is made of, by number. For one thread.
class OpenInputs {
 public:
  OpenInputs() = default;
  OpenInputs(std::vector<ChainName> names, const tfile::RemoteOptions& remote)
      : names_(std::move(names)), remote_(remote) {}

  const std::vector<ChainName>& names() const { return names_; }
  // The first files stay open, for each is asked for several times. Blocks. Errors: those of opening, with its name.
  Result<std::shared_ptr<const tfile::File>> open(std::size_t number);

 private:
  std::vector<ChainName> names_;
  tfile::RemoteOptions remote_;
  std::map<std::size_t, std::shared_ptr<const tfile::File>> open_;
};

}  // namespace tfilefs
