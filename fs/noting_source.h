// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tfile/forwarding_source.h"
#include "tfile/range.h"

namespace tfilefs {

// A source that wants to know which of its bytes somebody keeps something of: baskets and pages that become chunks.
// They must stay what they are; other bytes may be written anew by a job that fills the file.
class NotingSource : public tfile::ForwardingSource {
 public:
  using ForwardingSource::ForwardingSource;

  // `entries`: of the table; empty: it is of none. Any thread. Short.
  virtual void note_kept(std::uint64_t offset, std::span<const std::byte> bytes, tfile::EntryRange entries) const = 0;
};

}  // namespace tfilefs
