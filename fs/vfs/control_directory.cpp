// SPDX-License-Identifier: Apache-2.0
#include "vfs/control_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "on_behalf.h"
#include "vfs/attributes.h"
#include "wall_clock.h"

namespace tfilefs {
namespace {

Provenance of_daemon(timespec time, mode_t mode = 0444) { return {mode, ::geteuid(), ::getegid(), time, time}; }

// HeldItem i is file i.
class ControlFiles final : public Holder {
 public:
  ControlFiles(std::vector<ControlFile> files, Ownership ownership) : files_(std::move(files)), ownership_(ownership) {}

  const std::vector<ControlFile>& files() const { return files_; }
  void admit(HeldItem held, Access access, const CallerPtr& by, Reply<void> reply) const override {
    const ControlFile& file = files_[held.index];
    if (file.is_closed && access != Access::status) return reply(not_admitted());
    if (file.admit) return file.admit(by, std::move(reply));
    reply({});
  }
  std::optional<Attributes> known_attributes(HeldItem held) const override {
    const ControlFile& file = files_[held.index];
    if (!file.text) return std::nullopt;
    return attributes_of(file, file.text().size());
  }
  void attributes(HeldItem held, Reply<Attributes> reply) const override {
    make_text(held, std::move(reply), [self = shared_files(), held](const std::string& text) {
      return self->attributes_of(self->files_[held.index], text.size());
    });
  }
  void open(HeldItem held, Reply<OpenedContent> reply) const override {
    make_text(held, std::move(reply), [](std::string text) {
      OpenedContent opened;
      opened.content = std::make_shared<FixedContent>(std::move(text));
      opened.cacheable = false;
      return opened;
    });
  }

 private:
  std::shared_ptr<const ControlFiles> shared_files() const {
    return std::static_pointer_cast<const ControlFiles>(shared_from_this());
  }
  Attributes attributes_of(const ControlFile& file, std::size_t size) const {
    // A closed file belongs to the user of this process, whatever user the rest of the mount is given to.
    if (file.is_closed) return file_attributes(of_daemon(wall_clock(), 0400), {}, size, size);
    return file_attributes(of_daemon(wall_clock()), ownership_, size, size);
  }
  template <class T, class Use>
  void make_text(HeldItem held, Reply<T> reply, Use use) const {
    const ControlFile& file = files_[held.index];
    if (file.text) return reply(use(file.text()));
    file.slow_text(value_for<std::string>(
        std::move(reply), [use](std::string text, Reply<T> told) mutable { told(use(std::move(text))); }));
  }

  const std::vector<ControlFile> files_;
  const Ownership ownership_;
};

class ControlListing final : public Listing {
 public:
  explicit ControlListing(std::shared_ptr<const ControlFiles> files) : files_(std::move(files)) {}
  std::size_t size() const override { return files_->files().size(); }
  void item(std::size_t i, Item& into) const override {
    into = {files_->files()[i].name, S_IFREG, {files_, {static_cast<std::uint32_t>(i)}}};
  }

 private:
  const std::shared_ptr<const ControlFiles> files_;
};

class ControlDirectory final : public Directory {
 public:
  explicit ControlDirectory(std::shared_ptr<const ControlFiles> files) : files_(std::move(files)) {}
  void admit(Access, const CallerPtr&, Reply<void> reply) const override { reply({}); }
  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    for (std::uint32_t i = 0; i < files_->files().size(); ++i) {
      if (files_->files()[i].name == name) return reply(FoundEntry{{files_, {i}}, {}});
    }
    reply(no_such_entry());
  }
  void list(Reply<std::shared_ptr<const Listing>> reply) const override {
    reply(std::make_shared<const ControlListing>(files_));
  }

 private:
  const std::shared_ptr<const ControlFiles> files_;
};

class ControlHolder final : public Holder {
 public:
  ControlHolder(std::vector<ControlFile> files, Ownership ownership, std::function<void(Reply<void>)> sync)
      : ownership_(ownership),
        started_(wall_clock()),
        sync_(std::move(sync)),
        directory_(std::make_shared<const ControlDirectory>(
            std::make_shared<const ControlFiles>(std::move(files), ownership))) {}
  void admit(HeldItem, Access, const CallerPtr&, Reply<void> reply) const override { reply({}); }
  std::optional<Attributes> known_attributes(HeldItem) const override {
    Attributes attributes = directory_attributes(of_daemon(started_), ownership_);
    attributes.links = 2;
    return attributes;
  }
  void attributes(HeldItem held, Reply<Attributes> reply) const override { reply(*known_attributes(held)); }
  void enter(HeldItem, Freshness, Reply<std::shared_ptr<const Directory>> reply) const override { reply(directory_); }
  void sync(HeldItem, Reply<void> reply) const override { sync_(std::move(reply)); }

 private:
  const Ownership ownership_;
  const timespec started_;
  const std::function<void(Reply<void>)> sync_;
  const std::shared_ptr<const Directory> directory_;
};

}  // namespace

std::shared_ptr<const Holder> make_control_file(ControlFile file, Ownership ownership) {
  return std::make_shared<const ControlFiles>(std::vector<ControlFile>{std::move(file)}, ownership);
}

std::shared_ptr<const Holder> make_control_directory(std::vector<ControlFile> files, Ownership ownership,
                                                     std::function<void(Reply<void>)> sync) {
  return std::make_shared<const ControlHolder>(std::move(files), ownership, std::move(sync));
}

}  // namespace tfilefs
