// SPDX-License-Identifier: Apache-2.0
#include "view/friends/picked_items.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "exec/first_error.h"
#include "exec/step_loop.h"
#include "view/segments.h"

namespace tfilefs {
namespace {

// Copying so many bytes that nobody wants costs less than one more read of what is in the cache.
constexpr std::uint64_t kGap = 4096;
// A read is no larger than this, if no single range is: as much as a request of the kernel carries.
constexpr std::uint64_t kReadSize = 1 << 20;
// Reads under way at the same time: as many as are worth it if each waits for storage.
constexpr std::size_t kReadsAtOnce = 16;

class Picking : public std::enable_shared_from_this<Picking> {
 public:
  Picking(std::shared_ptr<CachedStreams> streams, const PickedColumn& column, std::vector<Pick> picks,
          std::shared_ptr<tfile::Buffer> into, ReadUse use, Reply<void> reply)
      : streams_(std::move(streams)),
        column_(column),
        picks_(std::move(picks)),
        into_(std::move(into)),
        use_(use),
        reply_(std::move(reply)) {
    std::erase_if(picks_, [](const Pick& pick) { return pick.size == 0; });
    std::sort(picks_.begin(), picks_.end(), [](const Pick& a, const Pick& b) { return a.from < b.from; });
  }

  void go_on() {
    loop_.next([self = shared_from_this()] { self->step(); });
  }

 private:
  void step() {
    const bool is_over = failure_.is_there() || reply_.asker().stop_requested();
    while (!is_over && !failure_.is_there() && reading_ < kReadsAtOnce && next_ < picks_.size()) read_next();
    if (reading_ > 0 || (!is_over && next_ < picks_.size()) || reply_.answered()) return;
    if (failure_.is_there()) return reply_(tl::unexpected<Error>(failure_.get()));
    if (is_over) return reply_(given_up());
    reply_({});
  }

  // One read of the picks that lie close together.
  void read_next() {
    const std::size_t first = next_;
    const std::uint64_t begin = picks_[first].from;
    std::uint64_t end = begin + picks_[first].size;
    for (++next_; next_ < picks_.size(); ++next_) {
      const Pick& pick = picks_[next_];
      if (pick.from > end + kGap || pick.from + pick.size > begin + kReadSize) break;
      end = std::max(end, pick.from + pick.size);
    }
    ++reading_;
    auto take = [self = shared_from_this(), first, last = next_, begin](Result<Slices> slices) {
      self->take(first, last, begin, std::move(slices));
    };
    const ColumnRange range{column_.stream, column_.slot, column_.item_size, begin, end - begin};
    read_whole(*streams_, range, use_, Reply<Slices>(std::move(take), reply_.asker()));
  }

  void take(std::size_t first, std::size_t last, std::uint64_t begin, const Result<Slices>& slices) {
    if (slices)
      copy(first, last, begin, *slices);
    else
      failure_.note(slices.error());
    --reading_;
    go_on();
  }

  // The picks are in order, and so are the pieces.
  void copy(std::size_t first, std::size_t last, std::uint64_t begin, const Slices& slices) {
    std::size_t piece = 0;
    std::uint64_t at = begin;  // where the piece begins in the column
    for (std::size_t i = first; i < last; ++i) {
      const Pick& pick = picks_[i];
      while (at + slices.pieces[piece].size() <= pick.from) at += slices.pieces[piece++].size();
      std::uint64_t from = pick.from, to = pick.to, left = pick.size, piece_at = at;
      for (std::size_t p = piece; left > 0; ++p) {
        const auto bytes = slices.pieces[p];
        const std::uint64_t inside = from - piece_at, size = std::min(left, bytes.size() - inside);
        std::memcpy(into_->data() + to, bytes.data() + inside, size);
        from += size;
        to += size;
        left -= size;
        piece_at += bytes.size();
      }
    }
  }

  const std::shared_ptr<CachedStreams> streams_;
  const PickedColumn column_;
  std::vector<Pick> picks_;
  const std::shared_ptr<tfile::Buffer> into_;
  const ReadUse use_;
  Reply<void> reply_;
  std::size_t next_ = 0;
  std::atomic<std::size_t> reading_ = 0;
  FirstError failure_;
  StepLoop loop_;
};

}  // namespace

void pick_items(std::shared_ptr<CachedStreams> streams, const PickedColumn& column, std::vector<Pick> picks,
                std::shared_ptr<tfile::Buffer> into, ReadUse use, Reply<void> reply) {
  std::make_shared<Picking>(std::move(streams), column, std::move(picks), std::move(into), use, std::move(reply))
      ->go_on();
}

}  // namespace tfilefs
