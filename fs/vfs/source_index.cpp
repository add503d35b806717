// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "on_behalf.h"
#include "once.h"
#include "tfile/file.h"
#include "tfile/source.h"
#include "vfs/blocking.h"
#include "vfs/plot_index.h"
#include "vfs/source_item.h"

namespace tfilefs {
namespace {

// Each file costs some reads, from storage that may be slow. Links are not followed, so that no file is visited twice.
constexpr std::size_t kFilesMax = 1'000, kFilesDeepMax = 30;

class Walk {
 public:
  Walk(SourceTree& tree, std::stop_token asker) : tree_(tree), asker_(std::move(asker)) {}

  // `below`: relative to the page's directory.
  void visit(const std::string& directory, const std::string& below, std::size_t depth) {
    const auto listing = tree_.list(directory);
    if (!listing) return;
    std::vector<std::string> names;
    Listing::Item item;
    for (std::size_t i = 0; i < (*listing)->size(); ++i) {
      (*listing)->item(i, item);
      names.push_back(item.name);
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      if (asker_.stop_requested()) return;
      if (plots.is_full() || ++looked_at_ > kFilesMax || depth > kFilesDeepMax) return plots.leave_out();
      const auto under = [&](const std::string& path) { return path.empty() ? name : path + "/" + name; };
      look(under(directory), under(below), depth);
    }
  }

  PlotWalk plots;

 private:
  // A file that cannot be read shows no plots here; the error is seen when it is opened.
  void look(const std::string& path, const std::string& below, std::size_t depth) {
    const auto status = tree_.status(path);
    if (!status) return;
    if (S_ISDIR(status->st_mode)) return visit(path, below, depth + 1);
    if (!S_ISREG(status->st_mode)) return;
    auto opened = tree_.open_path(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, false);
    if (!opened) return;
    auto source = tfile::adopt_source(opened->release(), path, -1);
    const auto file = source ? tfile::File::open(*std::move(source)) : tl::unexpected(source.error());
    if (file) plots.add(**file, *(*file)->root(), below, {});
  }

  SourceTree& tree_;
  const std::stop_token asker_;
  std::size_t looked_at_ = 0;
};

// One page, made once.
class SourceIndex final : public Holder {
 public:
  SourceIndex(std::shared_ptr<SourceTree> tree, std::string directory, const Provenance& from)
      : tree_(std::move(tree)), directory_(std::move(directory)), from_(from) {}

  std::optional<Attributes> attributes_but_size(HeldItem) const override { return attributes_of(0); }
  std::optional<Attributes> known_attributes(HeldItem) const override {
    const auto page = page_.peek();
    return page ? std::optional(attributes_of((*page)->size())) : std::nullopt;
  }
  void attributes(HeldItem, Reply<Attributes> reply) const override {
    auto next = [self = shared_from_this(), this](ContentPtr page, Reply<Attributes> told) mutable {
      told(attributes_of(page->size()));
    };
    page(value_for<ContentPtr>(std::move(reply), std::move(next)));
  }
  void open(HeldItem, Reply<OpenedContent> reply) const override {
    auto opened = [](ContentPtr page, Reply<OpenedContent> told) mutable {
      OpenedContent content;
      content.content = std::move(page);
      content.cacheable = false;
      told(std::move(content));
    };
    page(value_for<ContentPtr>(std::move(reply), std::move(opened)));
  }

 private:
  using ContentPtr = std::shared_ptr<Content>;

  Attributes attributes_of(std::uint64_t size) const {
    return file_attributes(from_, tree_->context().ownership, size, size);
  }

  void page(Reply<ContentPtr> reply) const {
    const auto start = [this](Reply<ContentPtr> made) {
      auto job = [tree = tree_, directory = directory_, asker = made.asker()]() -> Result<ContentPtr> {
        Walk walk(*tree, asker);
        walk.visit(directory, "", 0);
        if (asker.stop_requested()) return given_up();
        if (walk.plots.is_empty()) return no_such_entry();
        return std::make_shared<FixedContent>(walk.plots.page(directory));
      };
      answer_blocking(tree_->context().cache, std::move(job), std::move(made));
    };
    page_.get(start, std::move(reply));
  }

  const std::shared_ptr<SourceTree> tree_;
  const std::string directory_;
  const Provenance from_;
  mutable Once<ContentPtr> page_;
};

}  // namespace

Result<Entry> source_index(std::shared_ptr<SourceTree> tree, const std::string& directory) {
  TRY(const struct stat status, tree->status(directory));
  return Entry{std::make_shared<const SourceIndex>(std::move(tree), directory, provenance_of(status)), {}};
}

}  // namespace tfilefs
