// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tfile/source.h"

namespace tfile {

// A source that is read through another one, and is that one in all else. Not installed.
class ForwardingSource : public Source {
 public:
  explicit ForwardingSource(std::shared_ptr<const Source> inner) : inner_(std::move(inner)) {}

  const Identity& identity() const override { return inner_->identity(); }
  Result<Identity> identity_now() const override { return inner_->identity_now(); }
  ServerId origin() const override { return inner_->origin(); }
  const std::string& name() const override { return inner_->name(); }
  SourceTraits traits() const override { return inner_->traits(); }
  SourceCounts counts() const override { return inner_->counts(); }
  Result<std::shared_ptr<const Source>> sibling(std::string_view path) const override { return inner_->sibling(path); }

 protected:
  const std::shared_ptr<const Source> inner_;
};

}  // namespace tfile
