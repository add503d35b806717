// SPDX-License-Identifier: Apache-2.0
#include "vfs/remote/remote_content.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "read_done.h"
#include "tfile/buffer.h"

namespace tfilefs {
namespace {

// Exists until its bytes have come.
struct RemoteRead {
  RemoteRead(std::shared_ptr<const tfile::Source> of, std::size_t size, Reply<Slices> to)
      : source(std::move(of)), bytes(std::make_shared<tfile::Buffer>(size)), reply(std::move(to)) {}

  void answer(const Result<>& result) {
    if (!result) return reply(tl::unexpected<Error>(result.error()));
    reply(one_slice(bytes));
  }

  const std::shared_ptr<const tfile::Source> source;
  const std::shared_ptr<tfile::Buffer> bytes;
  Reply<Slices> reply;
};

}  // namespace

void RemoteContent::read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) {
  if (offset >= this->size()) return reply(Slices{});
  const tfile::ByteRange range{offset, std::min<std::uint64_t>(size, this->size() - offset)};
  auto read = std::make_shared<RemoteRead>(source_, range.size, std::move(reply));
  Executors& exec = cache_.exec();
  if (!exec.started_reads.begin(1)) return read->answer(cancelled());
  // The thread that brings the bytes is the source's own, and answers nobody. The kernel keeps them, so that the source
  // need not.
  std::vector<tfile::Source::Started> one;
  Reply<void> done([&exec, read](Result<> result) {
    exec.coders.run([read, result = std::move(result)] { read->answer(result); }, Urgency::awaited);
    exec.started_reads.end();
  });
  one.push_back({{range}, {read->bytes->span()}, read_done(std::move(done))});
  source_->start_reads(std::move(one));
}

}  // namespace tfilefs
