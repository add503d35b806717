// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/drawn_object.h"

#include <algorithm>
#include <stop_token>
#include <utility>

#include "exec/answering.h"
#include "on_behalf.h"
#include "query/draw_text.h"
#include "query/drawn_object.h"
#include "tfile/name.h"
#include "tfile/source.h"
#include "vfs/names/names.h"

namespace tfilefs {
namespace {

// Bins of all axes together: their histogram is in memory as a whole.
constexpr std::uint64_t kDrawnBinsMax = 1'000'000;

using DrawnSource = std::shared_ptr<const tfile::Source>;

// A file in memory, which nobody changes: all who open it read by one descriptor. It is for the user who mounts, and
// root.
class MemoryOrigin final : public FileLocator {
 public:
  MemoryOrigin(DrawnSource file, Provenance from) : file_(std::move(file)), from_(from) {}

  Result<SourceState> look() const override { return SourceState{file_->identity(), from_}; }
  Result<std::shared_ptr<const GuardedSource>> open() const override { return GuardedSource::guard(file_); }
  bool is_opened_again() const override { return false; }

 private:
  const DrawnSource file_;
  const Provenance from_;
};

Result<DrawnSource> drawn_in_memory(const DrawnTable& of, const std::string& text, const Query& query,
                                    const std::string& path, BlockMemory memory, const std::stop_token& stop) {
  TRY(const DrawRequest request, drawing_in_memory(text));
  ScanThreads threads;
  TRY(const Drawing drawing,
      draw({*of.table, *of.streams, true, kSharedUnitBytesMax, std::move(memory)}, query, request, {threads, stop}));
  TRY(const tfile::NewObject object, drawn_object(drawing));
  TRY(Descriptor file, drawn_file(object));
  return tfile::adopt_source(file.release(), path, -1);
}

}  // namespace

Result<DrawRequest> drawing_in_memory(const std::string& text) {
  TRY(const DrawRequest request, parse_drawing(text));
  std::uint64_t bins = 1;
  for (const std::int32_t each : request.bins)
    bins = std::min(kDrawnBinsMax + 1, bins * static_cast<std::uint64_t>(each));
  if (bins > kDrawnBinsMax)
    return tfile::fail(ErrorKind::invalid, "more than " + std::to_string(kDrawnBinsMax) + " bins");
  return request;
}

void draw_object(MountContext& context, DrawnTable of, const std::string& text, const Query& query,
                 Reply<GenerationPtr> reply) {
  const void* const queue = of.table.get();
  const std::string path = of.path + "/" + std::string(kDrawName) + tfile::escape_name(text);
  auto show = [&context, path, from = of.from](DrawnSource file, Reply<GenerationPtr> done) {
    auto made = std::make_shared<MountedFile>(context, std::make_unique<const MemoryOrigin>(std::move(file), from),
                                              path.substr(1));
    auto keep = [made](GenerationPtr now) { return now; };
    made->current(Freshness::now, answer_with<GenerationPtr>(std::move(done), std::move(keep)));
  };
  auto job = [of = std::move(of), text, query, path, stop = reply.stop_token(),
              memory = BlockMemory::of(context.cache.budget())] {
    return drawn_in_memory(of, text, query, path, memory, stop);
  };
  context.cache.exec().serial_queues.run_in_one_of(
      queue, kScansAtOnce, answering(std::move(job), value_for<DrawnSource>(std::move(reply), std::move(show))));
}

}  // namespace tfilefs
