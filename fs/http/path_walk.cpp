// SPDX-License-Identifier: Apache-2.0
#include "http/path_walk.h"

#include <sys/stat.h>

#include <memory>
#include <utility>

#include "on_behalf.h"
#include "vfs/names/path_pattern.h"

namespace tfilefs {
namespace {

using tfile::fail;

constexpr int kLinksMax = 40;  // as the kernel

class PathWalk : public std::enable_shared_from_this<PathWalk> {
 public:
  PathWalk(FileSystem& fs, std::vector<std::string> names, Reply<HeldInode> reply)
      : fs_(fs), left_(names.rbegin(), names.rend()), reply_(std::move(reply)) {}

  void begin() {
    fs_.getattr(kRootId, next<Attributes>([](PathWalk& walk, Attributes root) {
                  walk.at_ = HeldInode(walk.fs_, {kRootId, root});
                  walk.step();
                }));
  }

 private:
  // A reply that goes on with the walk; an error ends it.
  template <class T, class Then>
  Reply<T> next(Then then) {
    return Reply<T>(
        [walk = shared_from_this(), then](Result<T> result) mutable {
          if (!result) return walk->reply_(tl::unexpected(std::move(result).error()));
          then(*walk, *std::move(result));
        },
        reply_.stop_token());
  }
  void step() {
    if (left_.empty()) return reply_(std::move(at_));
    const std::string name = std::move(left_.back());
    left_.pop_back();
    fs_.lookup(at_.id(), name, next<FileSystem::Found>([name](PathWalk& walk, FileSystem::Found found) {
                 HeldInode child(walk.fs_, found);
                 if (S_ISLNK(found.attributes.mode)) return walk.follow(std::move(child));
                 walk.done_.push_back(name);
                 walk.at_ = std::move(child);
                 walk.step();
               }));
  }
  void follow(HeldInode link) {
    if (++links_ > kLinksMax) return reply_(fail(ErrorKind::denied, "too many links"));
    const InodeId id = link.id();
    auto held = std::make_shared<HeldInode>(std::move(link));  // until it was read
    fs_.readlink(id, next<std::string>([held](PathWalk& walk, const std::string& target) { walk.lead(target); }));
  }
  // Goes on from the root, with the names of the link's target in the place of its own.
  void lead(const std::string& target) {
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
    if (is_outside) return reply_(fail(ErrorKind::denied, "a link that leads out of the source"));
    left_.insert(left_.end(), names.rbegin(), names.rend());
    done_.clear();
    begin();
  }

  FileSystem& fs_;
  std::vector<std::string> left_;  // the next one last
  std::vector<std::string> done_;  // those that led to `at_`
  HeldInode at_;
  Reply<HeldInode> reply_;
  int links_ = 0;
};

}  // namespace

void walk_path(FileSystem& fs, std::vector<std::string> names, Reply<HeldInode> reply) {
  std::make_shared<PathWalk>(fs, std::move(names), std::move(reply))->begin();
}

}  // namespace tfilefs
