// SPDX-License-Identifier: Apache-2.0
#include "vfs/keys/object_directory.h"

#include "on_behalf.h"
#include "vfs/keys/key_vnodes.h"
#include "vfs/names/names.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/generated_directory.h"
#include "vfs/nodes/generation.h"
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

GeneratedThing unreadable(std::shared_ptr<const Generation> generation, const tfile::Error& why) {
  GeneratedThing thing;
  thing.generation = std::move(generation);
  thing.goes_with_key = true;
  thing.known_attributes = [] { return std::nullopt; };
  thing.attributes = [why](Reply<Attributes> reply) { reply(tl::unexpected(why)); };
  thing.open = [why](Reply<OpenedContent> reply) { reply(tl::unexpected(why)); };
  return thing;
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
        auto measure = [](const StreamsPtr& streams, Reply<Payload> done) {
          auto show = [streams](std::int64_t length) { return Payload{streams, length}; };
          streams->length(0, 0, answer_with<std::int64_t>(std::move(done), std::move(show)));
        };
        answer_blocking(cache, std::move(job), value_for<StreamsPtr>(std::move(made), std::move(measure)));
      },
      std::move(reply));
}

Attributes ObjectBytes::attributes_of(const tfile::StreamSet& payload, std::int64_t length) const {
  return file_attributes(key_provenance(*generation_, listing_->keys[key_]), generation_->context.ownership,
                         static_cast<std::uint64_t>(length), payload.shape(0).stored_bytes);
}

// The key tells the size of a payload that is one chunk.
std::optional<Attributes> ObjectBytes::known_attributes() const {
  if (const auto payload = payload_.peek()) return attributes_of(payload->streams->streams(), payload->length);
  const tfile::KeyInfo& key = listing_->keys[key_];
  if (tfile::File::is_large(key)) return std::nullopt;
  const auto payload = generation_->file->payload(key);
  if (!payload) return std::nullopt;
  return attributes_of(**payload, (*payload)->lengths(0)[0]);
}

void ObjectBytes::attributes(Reply<Attributes> reply) const {
  if (const auto known = known_attributes()) return reply(*known);
  auto tell = [copy = *this](const Payload& payload, Reply<Attributes> done) {
    done(copy.attributes_of(payload.streams->streams(), payload.length));
  };
  load(value_for<Payload>(std::move(reply), std::move(tell)));
}

void ObjectBytes::open(Reply<OpenedContent> reply) const {
  auto show = [generation = generation_](const Payload& payload, Reply<OpenedContent> done) {
    done(OpenedContent{column_content(payload.streams, payload_column(), payload.length), generation});
  };
  load(value_for<Payload>(std::move(reply), std::move(show)));
}

std::shared_ptr<const Directory> make_object_directory(std::shared_ptr<const Generation> generation,
                                                       std::shared_ptr<const tfile::DirectoryListing> listing,
                                                       std::uint32_t key, const tfile::Error& why) {
  const auto bytes = std::make_shared<const ObjectBytes>(generation, std::move(listing), key);
  GeneratedThing thing;
  thing.generation = generation;
  thing.goes_with_key = true;
  thing.known_attributes = [bytes] { return bytes->known_attributes(); };
  thing.attributes = [bytes](Reply<Attributes> reply) { bytes->attributes(std::move(reply)); };
  thing.open = [bytes](Reply<OpenedContent> reply) { bytes->open(std::move(reply)); };
  std::vector<std::pair<std::string, Entry>> files = {{std::string(kObjectBytesName), generated(std::move(thing))}};
  if (why.kind == ErrorKind::damaged) files.emplace_back(kObjectJsonName, generated(unreadable(generation, why)));
  GeneratedNames names = generated_names(std::move(files));
  names.generation = std::move(generation);
  return make_generated_directory(std::move(names));
}

}  // namespace tfilefs
