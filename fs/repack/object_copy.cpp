// SPDX-License-Identifier: Apache-2.0
#include "repack/object_copy.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "repack/stopped.h"
#include "tfile/stored_object.h"
#include "tfile/streamed_class.h"

namespace tfilefs {

using tfile::KeyInfo;
using tfile::StoredObject;

namespace {

// Objects whose sums are made together, in one pass over the files, take at most this part of the memory. What one
// takes besides its payload (its members by name) is about as much again.
constexpr std::uint64_t kSumsShare = 4;

// Each file has its own, by which its objects refer to each other: what that loses is told of tables (TRef).
constexpr std::string_view kOfEachFile = "TProcessID";

// The sum of the objects of one path, as it grows. It is opened when a second file has one.
struct Sum {
  const InputKeys::Object* first = nullptr;
  std::unique_ptr<StoredObject> object;
  bool has_ended = false;  // nothing more is added

  const KeyInfo& key() const { return first->place.info(); }
};

class ObjectCopy {
 public:
  ObjectCopy(const ObjectRequest& request, const ObjectSink& sink) : request_(request), sink_(sink) {}

  Result<std::vector<std::string>> run();

 private:
  Result<> open(std::size_t number);
  Result<std::vector<std::byte>> head_of(const InputKeys::Object& object);
  Result<> write(const tfile::FileWriter::CopiedKey& copied);

  // An object whose class files before describe otherwise would be read as one of theirs.
  Result<bool> can_be_described(const InputKeys::Object& object);
  Result<> copy(const InputKeys::Object& object);
  Result<> add_to_batch(const InputKeys::Object& object);
  Result<> end_batch();
  Result<> add_file(std::size_t number);

  // Opens it in the first file that has it. Files mostly have the same objects: descriptions are kept for the next one.
  Result<> open_first(Sum& sum);
  static Result<> add_key(const tfile::StoredObjects& objects, const KeyInfo& key, Sum& sum);

  // Damage ends the copy, unless it is to be left out.
  Result<> leave_out(const Sum& sum, std::size_t file, Error error);
  Result<> write_sum(const Sum& sum);

  std::string name_of(std::size_t file) const { return tfile::shown_name(request_.inputs.names()[file].file); }

  const ObjectRequest& request_;
  const ObjectSink& sink_;
  std::vector<Sum> batch_;  // in the order of files
  std::uint64_t batch_bytes_ = 0;
  std::shared_ptr<const tfile::File> file_;  // of that number
  std::size_t number_ = 0;
  tfile::ClassesOfFiles described_;
  std::vector<std::string> contradicted_;              // classes that it describes otherwise than files before
  std::optional<tfile::StoredObjects> first_objects_;  // of that number
  std::size_t first_number_ = 0;
  std::vector<std::string> left_out_;
};

Result<std::vector<std::string>> ObjectCopy::run() {
  // A dry run names what would not be added. The one in front of files of a size does not: they are written next.
  const bool is_last = sink_.output != nullptr || request_.options.is_dry;
  const bool adds = request_.options.adds_histograms && request_.inputs.names().size() > 1 && is_last;
  TRY_VOID(open(0));
  for (const InputKeys::Object& object : request_.objects) {
    TRY_VOID(not_stopped(sink_.stop));
    if (adds && object.place.info().class_name != kOfEachFile) {
      TRY_VOID(add_to_batch(object));
    } else {
      TRY_VOID(copy(object));
    }
  }
  TRY_VOID(end_batch());
  return std::move(left_out_);
}

Result<> ObjectCopy::open(std::size_t number) {
  if (file_ && number_ == number) return {};
  TRY(file_, request_.inputs.open(number));
  number_ = number;
  TRY(contradicted_, described_.take(*file_));
  return sink_.writer.take_classes(*file_);
}

Result<std::vector<std::byte>> ObjectCopy::head_of(const InputKeys::Object& object) {
  TRY_VOID(open(object.file));
  std::vector<std::byte> head(object.place.info().keylen);
  TRY_VOID(tfile::read_range(file_->source(), {object.place.info().seek, head.size()}, head));
  return head;
}

Result<> ObjectCopy::write(const tfile::FileWriter::CopiedKey& copied) {
  if (sink_.output == nullptr) return {};
  tfile::Buffer bytes(copied.head.size(), tfile::Use::passing);
  std::ranges::copy(copied.head, bytes.data());
  return sink_.output->writes().write(copied.address, std::move(bytes));
}

Result<bool> ObjectCopy::can_be_described(const InputKeys::Object& object) {
  TRY_VOID(open(object.file));
  const std::string class_name(object.place.info().class_name);
  TRY(const bool is_contradicted, tfile::may_hold(*file_, class_name, contradicted_));
  if (is_contradicted)
    left_out_.push_back(object.place.path() + ": of " + name_of(object.file) +
                        ", which describes its class differently from an earlier file, with the same version");
  return !is_contradicted;
}

Result<> ObjectCopy::copy(const InputKeys::Object& object) {
  const KeyInfo& key = object.place.info();
  TRY(const bool is_described, can_be_described(object));
  if (!is_described) return {};
  TRY(const std::vector<std::byte> head, head_of(object));
  TRY(const auto copied, sink_.writer.copy_key(object.place.directory, head));
  TRY_VOID(write(copied));
  if (sink_.output == nullptr) return {};
  return sink_.output->copy(file_->source(), {key.seek + head.size(), key.nbytes - head.size()},
                            copied.address + head.size());
}

Result<> ObjectCopy::add_to_batch(const InputKeys::Object& object) {
  batch_.push_back({&object, nullptr});
  batch_bytes_ += object.place.info().objlen;
  return batch_bytes_ > request_.options.memory / kSumsShare ? end_batch() : Result<>();
}

Result<> ObjectCopy::end_batch() {
  if (batch_.empty()) return {};
  for (std::size_t file = batch_.front().first->file + 1; file < request_.inputs.names().size(); ++file)
    TRY_VOID(add_file(file));
  for (const Sum& sum : batch_) TRY_VOID(write_sum(sum));
  batch_.clear();
  batch_bytes_ = 0;
  return {};
}

Result<> ObjectCopy::add_file(std::size_t number) {
  TRY_VOID(not_stopped(sink_.stop));
  TRY(const auto file, request_.inputs.open(number));
  std::optional<tfile::StoredObjects> objects;  // opened for the first one
  bool has_added = false;
  for (Sum& sum : batch_) {
    if (sum.has_ended || sum.first->file >= number) continue;
    const auto place = key_in(*file, sum.first->place.directory, sum.key().name, tfile::KeyKind::object);
    if (!place && place.error().kind == ErrorKind::not_found) continue;
    if (!objects) {
      TRY(objects, tfile::StoredObjects::of(file));
    }
    if (!sum.object) TRY_VOID(open_first(sum));
    if (sum.has_ended) continue;
    auto done = place ? add_key(*objects, place->info(), sum) : tl::unexpected<Error>(place.error());
    has_added = has_added || done;
    if (!done) TRY_VOID(leave_out(sum, number, std::move(done).error()));
  }
  // Parts of objects came along, maybe of classes that files before do not have.
  return has_added ? sink_.writer.take_classes(*file) : Result<>();
}

Result<> ObjectCopy::open_first(Sum& sum) {
  if (!first_objects_ || first_number_ != sum.first->file) {
    TRY(const auto file, request_.inputs.open(sum.first->file));
    TRY(first_objects_, tfile::StoredObjects::of(file));
    first_number_ = sum.first->file;
  }
  auto object = first_objects_->open(sum.key());
  if (object) {
    sum.object = *std::move(object);
    return {};
  }
  sum.has_ended = true;
  return leave_out(sum, sum.first->file, std::move(object).error());
}

Result<> ObjectCopy::add_key(const tfile::StoredObjects& objects, const KeyInfo& key, Sum& sum) {
  TRY(const auto object, objects.open(key));
  return sum.object->add(*object);
}

Result<> ObjectCopy::leave_out(const Sum& sum, std::size_t file, Error error) {
  const std::string what =
      sum.first->place.path() + ": the " + std::string(sum.key().class_name) + " of " + name_of(file);
  if (error.kind != ErrorKind::unsupported && !request_.options.skips_damaged) {
    error.text.insert(0, what + ": ");
    return tl::unexpected(std::move(error));
  }
  left_out_.push_back(what + ", which cannot be added: " + error.text);
  return {};
}

Result<> ObjectCopy::write_sum(const Sum& sum) {
  if (!sum.object || !sum.object->has_changed()) return copy(*sum.first);
  TRY(const bool is_described, can_be_described(*sum.first));
  if (!is_described) return {};
  TRY(const std::vector<std::byte> head, head_of(*sum.first));
  TRY(const auto copied, sink_.writer.copy_changed_key(sum.first->place.directory, head, sum.object->payload()));
  return write(copied);
}

}  // namespace

Result<std::vector<std::string>> copy_objects(const ObjectRequest& request, const ObjectSink& sink) {
  return ObjectCopy(request, sink).run();
}

}  // namespace tfilefs
