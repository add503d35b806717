// SPDX-License-Identifier: Apache-2.0
#include "http/path_walk.h"

#include <sys/stat.h>

#include <memory>
#include <utility>

#include "exec/when_all.h"
#include "on_behalf.h"
#include "vfs/names/path_pattern.h"

namespace tfilefs {
namespace {

using tfile::fail;

constexpr int kLinksMax = 40;  // as the kernel

class PathWalk : public std::enable_shared_from_this<PathWalk> {
 public:
  PathWalk(FileSystem& fs, const std::vector<std::string>& names) : fs_(fs), left_(names.rbegin(), names.rend()) {}

  bool is_more() const { return !has_begun_ || !left_.empty(); }

  void step(Reply<void> reply) {
    if (!has_begun_) return begin(std::move(reply));
    std::string name = std::move(left_.back());
    left_.pop_back();
    fs_.lookup(at_.id(), name,
               value_for<FileSystem::Found>(
                   std::move(reply), [walk = shared_from_this(), name](FileSystem::Found found, Reply<void> done) {
                     walk->enter(name, HeldInode(walk->fs_, found), std::move(done));
                   }));
  }

  HeldInode end() { return std::move(at_); }

 private:
  void begin(Reply<void> reply) {
    has_begun_ = true;
    fs_.getattr(kRootId, answer_with<Attributes>(std::move(reply), [walk = shared_from_this()](Attributes root) {
                  walk->at_ = HeldInode(walk->fs_, {kRootId, root});
                }));
  }
  void enter(const std::string& name, HeldInode child, Reply<void> reply) {
    if (S_ISLNK(child.attributes().mode)) return follow(std::move(child), std::move(reply));
    done_.push_back(name);
    at_ = std::move(child);
    reply({});
  }
  void follow(HeldInode link, Reply<void> reply) {
    if (++links_ > kLinksMax) return reply(fail(ErrorKind::denied, "too many links"));
    const InodeId id = link.id();
    auto lead = [walk = shared_from_this(), held = std::make_shared<HeldInode>(std::move(link))](
                    const std::string& target) { return walk->lead(target); };
    fs_.readlink(id, answer_with<std::string>(std::move(reply), std::move(lead)));
  }
  // Goes on from the root, with the names of the link's target in the place of its own.
  Result<void> lead(const std::string& target) {
    std::vector<std::string> names = done_;
    bool is_outside = target.starts_with('/');
    for (std::string& each : names_in(target)) {
      if (each == ".") continue;
      if (each != "..") {
        names.push_back(std::move(each));
      } else if (names.empty()) {
        is_outside = true;
      } else {
        names.pop_back();
      }
    }
    if (is_outside) return fail(ErrorKind::denied, "a link that leads out of the source");
    left_.insert(left_.end(), names.rbegin(), names.rend());
    done_.clear();
    has_begun_ = false;
    return {};
  }

  FileSystem& fs_;
  std::vector<std::string> left_;  // the next one last
  std::vector<std::string> done_;  // those that led to `at_`
  HeldInode at_;
  bool has_begun_ = false;  // at_ is the root, or below it
  int links_ = 0;
};

}  // namespace

void walk_path(FileSystem& fs, const std::vector<std::string>& names, Reply<HeldInode> reply) {
  const auto walk = std::make_shared<PathWalk>(fs, names);
  while_more([walk] { return walk->is_more(); }, 1, [walk](Reply<void> done) { walk->step(std::move(done)); },
             answer_with<void>(std::move(reply), [walk] { return walk->end(); }));
}

}  // namespace tfilefs
