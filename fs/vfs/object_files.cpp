// SPDX-License-Identifier: Apache-2.0
#include "vfs/object_files.h"

#include <utility>

#include "vfs/blocking.h"
#include "vfs/names.h"
#include "view/made_text.h"
#include "view/plot_svg.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using tfile::DirectoryListing;
using tfile::Object;
using Payload = std::span<const std::byte>;
using ObjectFilesPtr = std::shared_ptr<const ObjectFiles>;

TextOfPayload maker(std::shared_ptr<const Object> object, Form form) {
  switch (form) {
    case Form::plot:
      return [object = std::move(object)](Payload payload, const std::stop_token& stop) -> Result<std::string> {
        tfile::Effort effort(stop);
        TRY(const tfile::Plot plot, object->plot(payload, effort));
        return plot_svg(plot);
      };
    case Form::spreadsheet:
      return [object = std::move(object)](Payload payload, const std::stop_token& stop) -> Result<std::string> {
        tfile::Effort effort(stop);
        TRY(const tfile::Spreadsheet sheet, object->spreadsheet(payload, effort));
        return csv_text(sheet);
      };
    case Form::object_text:
      return [object = std::move(object)](Payload payload, const auto&) { return object->text(payload); };
    default:
      return [object = std::move(object)](Payload payload, const auto&) { return object->json(payload); };
  }
}

// Text is bytes.
const tfile::Column& text_column() {
  static const tfile::Column column;
  return column;
}

}  // namespace

ObjectFiles::ObjectFiles(std::shared_ptr<const Object> object, std::shared_ptr<const tfile::StreamSet> payload,
                         ClusterCache& cache)
    : object_(std::move(object)), payload_(std::move(payload)), cache_(cache) {}

std::vector<ObjectFiles::Name> ObjectFiles::names() const {
  std::vector<Name> names{{kObjectJsonName, Form::object_json, false}};
  if (object_->has_plot) names.push_back({kPlotName, Form::plot, true});
  if (object_->has_spreadsheet) names.push_back({kSpreadsheetName, Form::spreadsheet, true});
  if (object_->has_text) names.push_back({kObjectTextName, Form::object_text, true});
  return names;
}

void ObjectFiles::content(Form form, Reply<std::shared_ptr<Content>> reply) const {
  Once<std::shared_ptr<Content>> once;
  {
    const Lock lock(mutex_);
    once = contents_[form];
  }
  once.get(
      [&](Reply<std::shared_ptr<Content>> made) {
        auto streams = cache_.attach(made_text(payload_, maker(object_, form), made.asker()));
        CachedStreams& attached = *streams;
        attached.length(0, 0,
                        [made = std::move(made), streams = std::move(streams)](Result<std::int64_t> length) mutable {
                          if (!length) return made(tl::unexpected(std::move(length).error()));
                          made(column_content(std::move(streams), text_column(), *length));
                        });
      },
      std::move(reply));
}

void load_object(ClusterCache& cache, std::shared_ptr<const tfile::File> file,
                 std::shared_ptr<const DirectoryListing> listing, std::uint32_t key, Reply<ObjectFilesPtr> reply) {
  using StreamsPtr = std::shared_ptr<CachedStreams>;
  using StreamSetPtr = std::shared_ptr<const tfile::StreamSet>;
  auto open = [&cache, file, listing, key, reply = std::move(reply)](Result<StreamSetPtr> payload) mutable {
    if (!payload) return reply(tl::unexpected(std::move(payload).error()));
    StreamsPtr streams = cache.attach(*payload);
    CachedStreams& attached = *streams;
    // The whole payload, in one piece: it is one chunk.
    const std::size_t size = payload->get()->decoded_size({});
    auto look = [&cache, file, listing, key, streams = std::move(streams), payload = *payload,
                 reply = std::move(reply)](Result<Slices> slices) mutable {
      if (!slices) return reply(tl::unexpected(std::move(slices).error()));
      auto job = [&cache, file, listing, key, payload = std::move(payload),
                  slices = *std::move(slices)]() -> Result<ObjectFilesPtr> {
        const Payload bytes = slices.pieces.empty() ? Payload() : slices.pieces[0];
        TRY(auto object, file->object(listing->keys[key], bytes));
        return std::make_shared<const ObjectFiles>(std::move(object), payload, cache);
      };
      answer_blocking(cache, std::move(job), std::move(reply));
    };
    attached.read(0, 0, 1, 0, size, std::move(look));
  };
  answer_blocking(
      cache, [file, listing, key] { return file->payload(listing->keys[key]); }, Reply<StreamSetPtr>(std::move(open)));
}

}  // namespace tfilefs
