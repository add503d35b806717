// SPDX-License-Identifier: Apache-2.0
#include "repack/object_copy.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "repack/stopped.h"
#include "tfile/stored_histogram.h"

namespace tfilefs {

using tfile::KeyInfo;
using tfile::StoredHistogram;

namespace {

// Histograms whose sums are made together, in one pass over the files, take at most this part of the memory. What a
// histogram takes besides its payload (its members by name) is about as much again.
constexpr std::uint64_t kSumsShare = 4;

// The sum of histograms of one path, as it grows.
struct Sum {
  const InputKeys::Object* first = nullptr;
  std::unique_ptr<StoredHistogram> histogram;
  bool has_grown = false;

  const KeyInfo& key() const { return first->place.info(); }
};

class ObjectCopy {
 public:
  ObjectCopy(const ObjectRequest& request, const ObjectSink& sink) : request_(request), sink_(sink) {}

  Result<std::vector<std::string>> run() {
    const bool adds = request_.options.adds_histograms && request_.inputs.names().size() > 1 && sink_.output != nullptr;
    for (const InputKeys::Object& object : request_.objects) {
      TRY_VOID(not_stopped(sink_.stop));
      if (adds && tfile::is_stored_histogram(object.place.info().class_name)) {
        TRY_VOID(add_to_batch(object));
      } else {
        TRY_VOID(copy(object));
      }
    }
    TRY_VOID(end_batch());
    return std::move(left_out_);
  }

 private:
  Result<> open(std::size_t number) {
    if (file_ && number_ == number) return {};
    TRY(file_, request_.inputs.open(number));
    number_ = number;
    return sink_.writer.take_classes(*file_);
  }

  Result<std::vector<std::byte>> head_of(const InputKeys::Object& object) {
    TRY_VOID(open(object.file));
    std::vector<std::byte> head(object.place.info().keylen);
    TRY_VOID(tfile::read_range(file_->source(), {object.place.info().seek, head.size()}, head));
    return head;
  }

  Result<> write(const tfile::FileWriter::CopiedKey& copied) {
    if (sink_.output == nullptr) return {};
    tfile::Buffer bytes(copied.head.size(), tfile::Use::passing);
    std::ranges::copy(copied.head, bytes.data());
    return sink_.output->writes().write(copied.address, std::move(bytes));
  }

  Result<> copy(const InputKeys::Object& object) {
    const KeyInfo& key = object.place.info();
    TRY(const std::vector<std::byte> head, head_of(object));
    TRY(const auto copied, sink_.writer.copy_key(object.place.directory, head));
    TRY_VOID(write(copied));
    if (sink_.output == nullptr) return {};
    return sink_.output->copy(file_->source(), {key.seek + head.size(), key.nbytes - head.size()},
                              copied.address + head.size());
  }

  Result<> add_to_batch(const InputKeys::Object& object) {
    batch_.push_back({&object, nullptr, false});
    batch_bytes_ += object.place.info().objlen;
    return batch_bytes_ > request_.options.memory / kSumsShare ? end_batch() : Result<>();
  }

  Result<> end_batch() {
    if (batch_.empty()) return {};
    for (Sum& sum : batch_) {
      TRY_VOID(open(sum.first->file));
      auto histogram = file_->histogram(sum.key());
      if (!histogram) TRY_VOID(leave_out(sum, sum.first->file, std::move(histogram).error()));
      if (histogram) sum.histogram = *std::move(histogram);
    }
    for (std::size_t file = batch_.front().first->file + 1; file < request_.inputs.names().size(); ++file)
      TRY_VOID(add_file(file));
    for (const Sum& sum : batch_) TRY_VOID(write_sum(sum));
    batch_.clear();
    batch_bytes_ = 0;
    return {};
  }

  Result<> add_file(std::size_t number) {
    TRY_VOID(not_stopped(sink_.stop));
    TRY(const auto file, request_.inputs.open(number));
    for (Sum& sum : batch_) {
      if (!sum.histogram || sum.first->file >= number) continue;
      const auto place = key_in(*file, sum.first->place.path(), tfile::KeyKind::object);
      if (!place && place.error().kind == ErrorKind::not_found) continue;
      auto done = place ? add_key(*file, place->info(), sum) : tl::unexpected<Error>(place.error());
      if (!done) TRY_VOID(leave_out(sum, number, std::move(done).error()));
    }
    return {};
  }

  static Result<> add_key(const tfile::File& file, const KeyInfo& key, Sum& sum) {
    TRY(const auto histogram, file.histogram(key));
    TRY_VOID(sum.histogram->add(*histogram));
    sum.has_grown = true;
    return {};
  }

  // Damage ends the copy, unless it is to be left out.
  Result<> leave_out(const Sum& sum, std::size_t file, Error error) {
    const std::string what =
        sum.first->place.path() + ": the histogram of " + tfile::shown_name(request_.inputs.names()[file].file);
    if (error.kind != ErrorKind::unsupported && !request_.options.skips_damaged) {
      error.text.insert(0, what + ": ");
      return tl::unexpected(std::move(error));
    }
    left_out_.push_back(what + ", which is not added: " + error.text);
    return {};
  }

  Result<> write_sum(const Sum& sum) {
    if (!sum.has_grown) return copy(*sum.first);
    TRY(const std::vector<std::byte> head, head_of(*sum.first));
    TRY(const auto copied, sink_.writer.copy_changed_key(sum.first->place.directory, head, sum.histogram->payload()));
    return write(copied);
  }

  const ObjectRequest& request_;
  const ObjectSink& sink_;
  std::vector<Sum> batch_;  // in the order of files
  std::uint64_t batch_bytes_ = 0;
  std::shared_ptr<const tfile::File> file_;  // of that number
  std::size_t number_ = 0;
  std::vector<std::string> left_out_;
};

}  // namespace

Result<std::vector<std::string>> copy_objects(const ObjectRequest& request, const ObjectSink& sink) {
  return ObjectCopy(request, sink).run();
}

}  // namespace tfilefs
