// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "vfs/blocking.h"
#include "vfs/generation.h"
#include "vfs/key_directory.h"

namespace tfilefs {
namespace {

using Classes = std::shared_ptr<const tfile::FileClasses>;

// HeldItem i is header i.
class Headers final : public Holder {
 public:
  Headers(std::shared_ptr<const Generation> generation, Classes classes)
      : generation_(std::move(generation)), classes_(std::move(classes)) {}

  const std::vector<tfile::ClassHeader>& all() const { return classes_->headers; }
  const std::shared_ptr<const Generation>& generation() const override { return generation_; }
  std::optional<Attributes> known_attributes(HeldItem held) const override {
    const std::size_t size = all()[held.index].text.size();
    return file_attributes(generation_->state.from, generation_->context.ownership, size, size);
  }
  void attributes(HeldItem held, Reply<Attributes> reply) const override { reply(*known_attributes(held)); }
  void open(HeldItem held, Reply<OpenedContent> reply) const override {
    reply(OpenedContent{std::make_shared<FixedContent>(all()[held.index].text), generation_});
  }

 private:
  const std::shared_ptr<const Generation> generation_;
  const Classes classes_;
};

class HeaderListing final : public Listing {
 public:
  explicit HeaderListing(std::shared_ptr<const Headers> headers) : headers_(std::move(headers)) {}
  std::size_t size() const override { return headers_->all().size(); }
  void item(std::size_t i, Item& into) const override {
    into = {headers_->all()[i].file_name, S_IFREG, {headers_, {static_cast<std::uint32_t>(i)}}};
  }

 private:
  const std::shared_ptr<const Headers> headers_;
};

class HeaderDirectory final : public Directory {
 public:
  explicit HeaderDirectory(std::shared_ptr<const Headers> headers) : headers_(std::move(headers)) {}

  const std::shared_ptr<const Generation>& generation() const override { return headers_->generation(); }
  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    const auto& all = headers_->all();
    const auto at = std::lower_bound(
        all.begin(), all.end(), name,
        [](const tfile::ClassHeader& header, std::string_view wanted) { return header.file_name < wanted; });
    if (at == all.end() || at->file_name != name) return reply(no_such_entry());
    reply(FoundEntry{{headers_, {static_cast<std::uint32_t>(at - all.begin())}}, {}});
  }
  void list(Reply<std::shared_ptr<const Listing>> reply) const override {
    reply(std::make_shared<const HeaderListing>(headers_));
  }

 private:
  const std::shared_ptr<const Headers> headers_;
};

}  // namespace

void enter_classes(std::shared_ptr<const Generation> generation, Reply<std::shared_ptr<const Directory>> reply) {
  auto once = generation->classes;
  once.get(
      [&](Reply<Classes> made) {
        auto job = [file = generation->file]() { return file->classes(); };
        answer_blocking(generation->context.cache, std::move(job), std::move(made));
      },
      value_for<Classes>(std::move(reply), [generation](Classes classes, Reply<std::shared_ptr<const Directory>> told) {
        told(std::make_shared<const HeaderDirectory>(std::make_shared<const Headers>(generation, std::move(classes))));
      }));
}

}  // namespace tfilefs
