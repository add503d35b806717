// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/drawn_object.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <stop_token>
#include <utility>

#include "exec/answering.h"
#include "on_behalf.h"
#include "query/draw_text.h"
#include "query/drawn_object.h"
#include "tfile/local_file.h"
#include "tfile/name.h"
#include "vfs/names/names.h"
#include "vfs/nodes/scan_threads.h"

namespace tfilefs {
namespace {

// Bins of all axes together: their histogram is in memory as a whole.
constexpr std::uint64_t kDrawnBinsMax = 1'000'000;

// A file in memory, which nobody changes. It is for the user who mounts, and root.
class MemoryOrigin final : public FileLocator {
 public:
  MemoryOrigin(Descriptor file, std::string path, Provenance from)
      : file_(std::move(file)), path_(std::move(path)), from_(from) {}

  Result<SourceState> look() const override {
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0) return tfile::system_error(path_, errno);
    return SourceState{tfile::identity_of(status), from_};
  }
  Result<std::shared_ptr<const GuardedSource>> open() const override {
    Descriptor again(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
    if (!again) return tfile::system_error(path_, errno);
    TRY(auto source, tfile::adopt_source(again.release(), path_, -1));
    return GuardedSource::guard(std::move(source));
  }

 private:
  const Descriptor file_;
  const std::string path_;
  const Provenance from_;
};

Result<DrawRequest> drawing_in_memory(const std::string& text) {
  TRY(const DrawRequest request, parse_drawing(text));
  std::uint64_t bins = 1;
  for (const std::int32_t each : request.bins)
    bins = std::min(kDrawnBinsMax + 1, bins * static_cast<std::uint64_t>(each));
  if (bins > kDrawnBinsMax)
    return tfile::fail(ErrorKind::invalid, "more than " + std::to_string(kDrawnBinsMax) + " bins");
  return request;
}

Result<Descriptor> drawn_in_memory(const DrawnTable& of, const std::string& text, const std::stop_token& stop) {
  TRY(const DrawRequest request, drawing_in_memory(text));
  const QueryScope scope{TableNames(*of.table), {}, of.streams->files() == nullptr};
  ScanThreads threads;
  auto drawing =
      draw({*of.table, *of.streams, true}, scope, request, {threads.workers(), threads.units_at_once(), stop});
  if (!drawing) return tl::unexpected<Error>(on_one_line(std::move(drawing).error()));
  TRY(const tfile::NewObject object, drawn_object(*drawing));
  return drawn_file(object);
}

}  // namespace

Result<> check_drawing(const tfile::Table& table, bool is_one_file, const std::string& text) {
  TRY(const DrawRequest request, drawing_in_memory(text));
  std::vector<std::string> factors;
  if (!request.cut.empty()) factors.push_back(request.cut);
  const auto query = Query::bind(request.expressions, factors, {TableNames(table), {}, is_one_file});
  return query ? Result<>() : tl::unexpected<Error>(on_one_line(query.error()));
}

void draw_object(MountContext& context, DrawnTable of, const std::string& text, Reply<GenerationPtr> reply) {
  const void* const queue = of.table.get();
  const std::string path = of.path + "/" + std::string(kDrawName) + tfile::escape_name(text);
  auto show = [&context, path, from = of.from](Descriptor file, Reply<GenerationPtr> told) {
    auto made = std::make_shared<MountedFile>(
        context, std::make_unique<const MemoryOrigin>(std::move(file), path, from), path.substr(1));
    auto keep = [made](GenerationPtr now) { return now; };
    made->current(Freshness::now, answer_with<GenerationPtr>(std::move(told), std::move(keep)));
  };
  auto job = [of = std::move(of), text, stop = reply.stop_token()] { return drawn_in_memory(of, text, stop); };
  context.cache.exec().serial_queues.run(
      queue, answering(std::move(job), value_for<Descriptor>(std::move(reply), std::move(show))));
}

}  // namespace tfilefs
