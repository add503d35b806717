// SPDX-License-Identifier: Apache-2.0
#include "tfile/stored_object.h"

#include <string>
#include <string_view>
#include <utility>

#include "container/payload.h"
#include "object/object_sum.h"
#include "object/summed_payload.h"
#include "streamer/info/streamer_info_record.h"

namespace tfile {
namespace {

class SummedObject final : public StoredObject {
 public:
  explicit SummedObject(SummedPayload content) : content_(std::move(content)) {}

  Result<> add(const StoredObject& given) override {
    const auto* const other = dynamic_cast<const SummedObject*>(&given);
    if (other == nullptr) return fail(ErrorKind::invalid, "not an object of a key");
    if (content_.class_name != other->content_.class_name) return fail(ErrorKind::unsupported, "its class differs");
    if (content_.payload == other->content_.payload && stands_for_equals(content_)) return {};
    auto done = add(other->content_);
    has_changed_ = has_changed_ || done;
    return done;
  }

  bool has_changed() const override { return has_changed_; }
  std::span<const std::byte> payload() const override { return content_.payload; }

 private:
  Result<> add(const SummedPayload& other) {
    if (!has_summed_parts(*content_.infos, content_.class_name)) return add_object(content_, other);
    SummedPayload sum{content_.infos, content_.class_name, content_.payload, content_.keylen};
    TRY_VOID(sum.read());
    TRY_VOID(add_object(sum, other));
    content_ = std::move(sum);
    return {};
  }

  SummedPayload content_;
  bool has_changed_ = false;
};

}  // namespace

Result<StoredObjects> StoredObjects::of(std::shared_ptr<const File> file) {
  StoredObjects made;
  TRY(const StreamerInfoRecord record, read_streamer_info_record(file->source(), file->header()));
  made.infos_ = record.infos;
  made.file_ = std::move(file);
  return made;
}

Result<std::unique_ptr<StoredObject>> StoredObjects::open(const KeyInfo& key) const {
  TRY(const Buffer payload, read_payload(file_->source(), key));
  const std::span<const std::byte> bytes = payload.span();
  SummedPayload content{infos_, std::string(key.class_name), {bytes.begin(), bytes.end()}, key.keylen};
  if (is_summed(*infos_, key.class_name)) TRY_VOID(content.read());
  return std::make_unique<SummedObject>(std::move(content));
}

}  // namespace tfile
