// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "on_behalf.h"
#include "once.h"
#include "path_name.h"
#include "tfile/file.h"
#include "tfile/source.h"
#include "vfs/keys/plot_index.h"
#include "vfs/mirror/source_item.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/generated_directory.h"

namespace tfilefs {
namespace {

// Each file costs some reads, from storage that may be slow. Links are not followed, so that no file is visited twice.
constexpr std::size_t kFilesMax = 1'000, kFilesDeepMax = 30;

class Walk {
 public:
  Walk(SourceTree& tree, std::stop_token stop) : tree_(tree), stop_token_(std::move(stop)) {}

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
      if (stop_token_.stop_requested()) return;
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
  const std::stop_token stop_token_;
  std::size_t looked_at_ = 0;
};

using ContentPtr = std::shared_ptr<Content>;

void start_page(const std::shared_ptr<SourceTree>& tree, const std::string& directory, Reply<ContentPtr> made) {
  auto job = [tree, directory, stop = made.stop_token()]() -> Result<ContentPtr> {
    Walk walk(*tree, stop);
    walk.visit(directory, "", 0);
    if (stop.stop_requested()) return cancelled();
    if (walk.plots.is_empty()) return no_such_entry();
    const std::string heading = directory.empty() ? name_in_path(tree->real_path()) : directory;
    return std::make_shared<FixedContent>(walk.plots.page(heading.empty() ? "/" : heading));
  };
  answer_blocking(tree->context().cache, std::move(job), std::move(made));
}

}  // namespace

// One page, made once.
Result<Entry> source_index(std::shared_ptr<SourceTree> tree, const std::string& directory) {
  TRY(const struct stat status, tree->status(directory));
  const auto attributes = [tree, from = provenance_of(status)](std::uint64_t size) {
    return file_attributes(from, tree->context().ownership, size, size);
  };
  const Once<ContentPtr> page;
  GeneratedThing index = made_anew([tree, directory, attributes, page](Freshness, Reply<MadeFile> reply) {
    auto tell = [attributes](ContentPtr made, Reply<MadeFile> done) {
      const Attributes of_page = attributes(made->size());
      done(MadeFile{of_page, std::move(made)});
    };
    Once<ContentPtr>(page).get([&](Reply<ContentPtr> made) { start_page(tree, directory, std::move(made)); },
                               value_for<ContentPtr>(std::move(reply), tell));
  });
  index.attributes_but_size = [attributes] { return attributes(0); };
  index.known_attributes = [attributes, page]() -> std::optional<Attributes> {
    const auto made = page.peek();
    return made ? std::optional(attributes((*made)->size())) : std::nullopt;
  };
  return generated(std::move(index));
}

}  // namespace tfilefs
