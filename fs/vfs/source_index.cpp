// SPDX-License-Identifier: Apache-2.0
#include "vfs/source_index.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tfile/file.h"
#include "tfile/source.h"
#include "vfs/plot_index.h"

namespace tfilefs {
namespace {

// Each file costs some reads, of storage that may be slow; links are not followed, so that nothing is visited twice.
constexpr std::size_t kFilesMax = 1'000, kDepthMax = 30;

class Walk {
 public:
  explicit Walk(SourceTree& tree) : tree_(tree) {}

  // `below`: from the page's directory.
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
      if (plots.is_full() || ++looked_at_ > kFilesMax || depth > kDepthMax) return plots.leave_out();
      const auto under = [&](const std::string& path) { return path.empty() ? name : path + "/" + name; };
      look(under(directory), under(below), depth);
    }
  }

  PlotWalk plots;

 private:
  // What cannot be read shows nothing here; who opens it is told why.
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
  std::size_t looked_at_ = 0;
};

// One page, as it was made when its name was looked up.
class SourceIndex final : public Holder {
 public:
  SourceIndex(std::string page, const Provenance& from, const Ownership& ownership)
      : content_(std::make_shared<FixedContent>(std::move(page))),
        attributes_(file_attributes(from, ownership, content_->size(), content_->size())) {}

  std::optional<Attributes> known_attributes(HeldItem) const override { return attributes_; }
  void attributes(HeldItem, Reply<Attributes> reply) const override { reply(attributes_); }
  void open(HeldItem, Reply<OpenedContent> reply) const override {
    OpenedContent opened;
    opened.content = content_;
    opened.cacheable = false;
    reply(std::move(opened));
  }

 private:
  const std::shared_ptr<FixedContent> content_;
  const Attributes attributes_;
};

}  // namespace

Result<Entry> make_source_index(SourceTree& tree, const std::string& directory) {
  TRY(const struct stat status, tree.status(directory));
  Walk walk(tree);
  walk.visit(directory, "", 0);
  if (walk.plots.is_empty()) return no_such_entry();
  return Entry{
      std::make_shared<const SourceIndex>(walk.plots.page(directory), provenance_of(status), tree.context().ownership),
      {}};
}

}  // namespace tfilefs
