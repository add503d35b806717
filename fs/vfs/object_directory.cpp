// SPDX-License-Identifier: Apache-2.0
#include "vfs/object_directory.h"

#include <sys/stat.h>

#include "vfs/blocking.h"
#include "vfs/generation.h"
#include "vfs/key_holder.h"
#include "vfs/names.h"
#include "view/view.h"

namespace tfilefs {
namespace {

// The one column of a payload.
const tfile::Column& payload_column() {
  static const tfile::Column column = [] {
    tfile::Column c;
    c.path = c.name = kObjectBytesName;
    c.role = tfile::Role::raw;
    return c;
  }();
  return column;
}

}  // namespace

ObjectBytes::ObjectBytes(std::shared_ptr<const Generation> generation,
                         std::shared_ptr<const tfile::DirectoryListing> listing, std::uint32_t key)
    : generation_(std::move(generation)), listing_(std::move(listing)), key_(key) {}

void ObjectBytes::load(Reply<Payload> reply) const {
  using StreamsPtr = std::shared_ptr<CachedStreams>;
  payload_.get(
      [this](Reply<Payload> made) {
        ClusterCache& cache = generation_->context.cache;
        auto job = [&cache, file = generation_->file, listing = listing_, key = key_]() -> Result<StreamsPtr> {
          TRY(auto payload, file->large_payload(listing->keys[key]));
          return cache.attach(std::move(payload));
        };
        auto measure = [made = std::move(made)](Result<StreamsPtr> streams) mutable {
          if (!streams) return made(tl::unexpected(std::move(streams).error()));
          CachedStreams& attached = **streams;
          attached.length(0, 0, [made = std::move(made), streams = *streams](Result<std::int64_t> length) mutable {
            if (!length) return made(tl::unexpected(std::move(length).error()));
            made(Payload{std::move(streams), *length});
          });
        };
        answer_blocking(cache, std::move(job), Reply<StreamsPtr>(std::move(measure)));
      },
      std::move(reply));
}

Attributes ObjectBytes::attributes_of(const Payload& payload) const {
  return file_attributes(key_provenance(*generation_, listing_->keys[key_]), generation_->context.ownership,
                         static_cast<std::uint64_t>(payload.length), payload.streams->streams().shape(0).stored_bytes);
}

std::optional<Attributes> ObjectBytes::known_attributes() const {
  const auto payload = payload_.peek();
  if (!payload) return std::nullopt;
  return attributes_of(*payload);
}

void ObjectBytes::attributes(Reply<Attributes> reply) const {
  if (const auto payload = payload_.peek()) return reply(attributes_of(*payload));
  const ObjectBytes copy = *this;
  load(value_for<Payload>(
      std::move(reply), [copy](const Payload& payload, Reply<Attributes> told) { told(copy.attributes_of(payload)); }));
}

void ObjectBytes::open(Reply<OpenedContent> reply) const {
  auto show = [generation = generation_](const Payload& payload, Reply<OpenedContent> told) {
    told(OpenedContent{column_content(payload.streams, payload_column(), payload.length), generation});
  };
  load(value_for<Payload>(std::move(reply), std::move(show)));
}

namespace {

class ObjectHolder final : public Holder {
 public:
  ObjectHolder(std::shared_ptr<const Generation> generation, std::shared_ptr<const tfile::DirectoryListing> listing,
               std::uint32_t key)
      : generation_(generation), bytes_(generation, std::move(listing), key) {}

  const std::shared_ptr<const Generation>& generation() const override { return generation_; }
  std::optional<Attributes> known_attributes(HeldItem) const override { return bytes_.known_attributes(); }
  void attributes(HeldItem, Reply<Attributes> reply) const override { bytes_.attributes(std::move(reply)); }
  void open(HeldItem, Reply<OpenedContent> reply) const override { bytes_.open(std::move(reply)); }
  bool goes_with_key(HeldItem) const override { return true; }

 private:
  const std::shared_ptr<const Generation> generation_;
  const ObjectBytes bytes_;
};

class ObjectListing final : public Listing {
 public:
  explicit ObjectListing(Entry bytes) : bytes_(std::move(bytes)) {}
  std::size_t size() const override { return 1; }
  void item(std::size_t, Item& into) const override { into = {std::string(kObjectBytesName), S_IFREG, bytes_}; }

 private:
  const Entry bytes_;
};

class ObjectDirectory final : public Directory {
 public:
  explicit ObjectDirectory(std::shared_ptr<const Holder> holder)
      : bytes_{std::move(holder), {0, ShownAs::object_bin}} {}

  const std::shared_ptr<const Generation>& generation() const override { return bytes_.holder->generation(); }
  void find(std::string_view name, Reply<FoundEntry> reply) const override {
    if (name == kObjectBytesName) return reply(FoundEntry{bytes_, {}});
    reply(no_such_entry());
  }
  void list(Reply<std::shared_ptr<const Listing>> reply) const override {
    reply(std::make_shared<const ObjectListing>(bytes_));
  }

 private:
  const Entry bytes_;
};

}  // namespace

std::shared_ptr<const Directory> make_object_directory(std::shared_ptr<const Generation> generation,
                                                       std::shared_ptr<const tfile::DirectoryListing> listing,
                                                       std::uint32_t key) {
  return std::make_shared<const ObjectDirectory>(
      std::make_shared<const ObjectHolder>(std::move(generation), std::move(listing), key));
}

}  // namespace tfilefs
