// SPDX-License-Identifier: Apache-2.0
#include "view/segments.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "exec/trampoline.h"
#include "exec/when_all.h"
#include "on_behalf.h"
#include "view/damage.h"

namespace tfilefs {
namespace {

// A file cannot be larger than a signed 64-bit offset.
constexpr auto kFileMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

// Padding up to this size is answered from here, without a copy: more than any alignment needs.
constexpr std::array<std::byte, 4096> kZeros{};

// Collects the inputs of a piece of a transform, one after the other, and makes the piece.
class PieceMaker : public std::enable_shared_from_this<PieceMaker> {
 public:
  PieceMaker(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const Transform> transform, std::uint64_t piece,
             std::uint64_t size, bool chosen, Reply<PiecePtr> reply)
      : streams_(std::move(streams)),
        transform_(std::move(transform)),
        piece_(piece),
        size_(size),
        chosen_(chosen),
        inputs_(transform_->inputs(piece)),
        bytes_(inputs_.size()),
        reply_(std::move(reply)) {}

  // Its memory is not in the budget, so it is limited to what a request may take beyond the budget.
  void start() {
    const std::uint64_t need = needed();
    if (need > Budget::kBeyondMax) return reply_(tl::unexpected<Error>(refusal(need, "a mount", Budget::kBeyondMax)));
    next();
  }

 private:
  void next() {
    loop_.next([self = shared_from_this()] { self->step(); });
  }

  std::uint64_t needed() const {
    std::uint64_t sum = size_;
    for (const ColumnRange& input : inputs_) {
      if (__builtin_add_overflow(sum, input.size, &sum)) return std::numeric_limits<std::uint64_t>::max();
    }
    return sum;
  }

  void step() {
    while (at_ < inputs_.size() && inputs_[at_].size == 0) ++at_;
    if (at_ == inputs_.size()) return streams_->run_view_job([self = shared_from_this()] { self->go_on(); });
    read_whole(*streams_, inputs_[at_], {.chosen = chosen_}, [self = shared_from_this()](Result<Slices> slices) {
      if (!slices) return self->reply_(tl::unexpected<Error>(slices.error()));
      std::string& bytes = self->bytes_[self->at_++];
      bytes.resize(slices->size());
      copy_slices(*slices, reinterpret_cast<std::byte*>(bytes.data()));
      *slices = {};  // a read that waits for memory must hold none
      self->next();
    });
  }

  void go_on() {
    auto more = transform_->more_inputs(piece_, bytes_);
    if (!more) return reply_(tl::unexpected<Error>(std::move(more).error()));
    if (more->empty()) return make();
    inputs_.insert(inputs_.end(), more->begin(), more->end());
    bytes_.resize(inputs_.size());
    start();
  }

  void make() {
    std::string made(size_, '\0');
    if (auto done = transform_->make(piece_, bytes_, made); !done)
      return reply_(tl::unexpected<Error>(std::move(done).error()));
    reply_(std::make_shared<const std::string>(std::move(made)));
  }

  const std::shared_ptr<CachedStreams> streams_;
  const std::shared_ptr<const Transform> transform_;
  const std::uint64_t piece_;
  const std::uint64_t size_;
  const bool chosen_;
  std::vector<ColumnRange> inputs_;
  std::vector<std::string> bytes_;
  Reply<PiecePtr> reply_;
  std::size_t at_ = 0;
  Trampoline loop_;
};

}  // namespace

Result<std::vector<ColumnRange>> Transform::more_inputs(std::uint64_t, std::span<const std::string>) const {
  return std::vector<ColumnRange>();
}

void read_whole(CachedStreams& streams, const ColumnRange& range, ReadUse use, Reply<Slices> reply) {
  streams.read(range.stream, range.slot, range.item_size, range.offset, range.size, use,
               [offset = range.offset, size = range.size, reply = std::move(reply)](Result<Slices> slices) mutable {
                 if (slices && slices->size() != size) slices = ends_early(offset, slices->size(), size);
                 reply(std::move(slices));
               });
}

ColumnRange range_of_items(const tfile::Column& column, std::int64_t first, std::int64_t count) {
  const std::uint64_t item_size = column.item_size();
  const auto bytes = [&](std::int64_t items) {
    const auto n = static_cast<std::uint64_t>(std::max<std::int64_t>(0, items));
    return item_size > 0 && n > kFileMax / item_size ? kFileMax : n * item_size;
  };
  const std::uint64_t offset = bytes(first);
  return {column.stream, column.slot, item_size, offset, std::min(bytes(count), kFileMax - offset)};
}

void Segments::add(Kind kind, std::uint32_t which, std::uint64_t from, std::uint64_t size) {
  if (size > kFileMax - size_) {
    too_large_ = true;
    size = kFileMax - size_;
  }
  if (size == 0) return;
  segments_.push_back({size_, kind, which, from});
  size_ += size;
}

void Segments::add_bytes(std::string_view bytes) {
  const bool continues = !segments_.empty() && segments_.back().kind == Kind::bytes;
  if (continues && bytes.size() <= kFileMax - size_)
    size_ += bytes.size();
  else
    add(Kind::bytes, 0, bytes_.size(), bytes.size());
  bytes_ += bytes;
}

void Segments::add_fill(std::uint8_t byte, std::uint64_t size) { add(Kind::fill, byte, 0, size); }

void Segments::add_column(const ColumnRange& range) {
  const auto same = [&](const Source& s) { return s.stream == range.stream && s.slot == range.slot; };
  if (sources_.empty() || !same(sources_.back())) sources_.push_back({range.stream, range.slot, range.item_size});
  add(Kind::column, static_cast<std::uint32_t>(sources_.size() - 1), range.offset, range.size);
}

void Segments::add_pieces(std::shared_ptr<const Transform> transform, std::uint64_t piece_size, std::uint64_t size) {
  transforms_.push_back({std::move(transform), piece_size});
  add(Kind::pieces, static_cast<std::uint32_t>(transforms_.size() - 1), 0, size);
}

std::uint32_t Segments::add_transform(std::shared_ptr<const Transform> transform) {
  transforms_.push_back({std::move(transform), 0});
  return static_cast<std::uint32_t>(transforms_.size() - 1);
}

void Segments::add_piece(std::uint32_t transform, std::uint64_t piece, std::uint64_t size) {
  add(Kind::pieces, transform, piece, size);
}

void Segments::append(Segments&& more) {
  const auto source_shift = static_cast<std::uint32_t>(sources_.size());
  const auto transform_shift = static_cast<std::uint32_t>(transforms_.size());
  for (std::size_t i = 0; i < more.segments_.size(); ++i) {
    Segment segment = more.segments_[i];
    const std::uint64_t end = i + 1 < more.segments_.size() ? more.segments_[i + 1].begin : more.size_;
    if (segment.kind == Kind::bytes) segment.from += bytes_.size();
    if (segment.kind == Kind::column) segment.which += source_shift;
    if (segment.kind == Kind::pieces) segment.which += transform_shift;
    add(segment.kind, segment.which, segment.from, end - segment.begin);
  }
  too_large_ = too_large_ || more.too_large_;
  bytes_ += more.bytes_;
  sources_.insert(sources_.end(), more.sources_.begin(), more.sources_.end());
  std::move(more.transforms_.begin(), more.transforms_.end(), std::back_inserter(transforms_));
}

class SegmentContent : public Content, public std::enable_shared_from_this<SegmentContent> {
 public:
  SegmentContent(std::shared_ptr<CachedStreams> streams, Segments segments, bool chosen)
      : streams_(std::move(streams)), segments_(std::move(segments)), chosen_(chosen) {}
  ~SegmentContent() override { streams_->pieces().forget(this); }

  std::uint64_t size() const override { return segments_.size_; }

  void read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) override {
    if (offset >= segments_.size_) return reply(Slices());
    std::vector<Part> parts = parts_of(offset, offset + std::min<std::uint64_t>(size, segments_.size_ - offset));
    const auto is_column = [](const Part& part) { return part.kind == Kind::column; };
    const auto needs_buffer = [](const Part& part) {
      return part.kind == Kind::pieces || (part.kind == Kind::fill && (part.which != 0 || part.size > kZeros.size()));
    };
    if (std::none_of(parts.begin(), parts.end(), needs_buffer) &&
        std::count_if(parts.begin(), parts.end(), is_column) <= 1)
      return answer_in_place(parts, std::move(reply));
    gather(std::move(parts), std::move(reply));
  }

 private:
  using Kind = Segments::Kind;
  // The part of a segment, or of one of its pieces, that a read wants.
  struct Part {
    Kind kind;
    std::uint32_t which;
    std::uint64_t from;  // as Segment::from
    std::uint64_t size;
    std::uint64_t skip, whole;  // of pieces: bytes of the piece before the part, and in total
    std::byte* to = nullptr;    // of a read that is put together
  };

  std::vector<Part> parts_of(std::uint64_t begin, std::uint64_t end) const {
    const auto& all = segments_.segments_;
    auto at = std::upper_bound(all.begin(), all.end(), begin, [](auto b, const auto& s) { return b < s.begin; }) - 1;
    std::vector<Part> parts;
    for (; at != all.end() && at->begin < end; ++at) {
      const std::uint64_t segment_end = at + 1 == all.end() ? segments_.size_ : (at + 1)->begin;
      const std::uint64_t skip = begin - std::min(begin, at->begin), until = std::min(end, segment_end) - at->begin;
      if (at->kind == Kind::pieces)
        add_pieces(*at, segment_end - at->begin, skip, until, parts);
      else
        parts.push_back({at->kind, at->which, at->from + skip, until - skip, 0, 0});
    }
    return parts;
  }

  void add_pieces(const Segments::Segment& segment, std::uint64_t size, std::uint64_t begin, std::uint64_t end,
                  std::vector<Part>& parts) const {
    const std::uint64_t uniform = segments_.transforms_[segment.which].size;
    const std::uint64_t piece_size = uniform == 0 ? size : uniform;
    for (std::uint64_t piece = begin / piece_size; piece * piece_size < end; ++piece) {
      const std::uint64_t piece_begin = piece * piece_size, whole = std::min(piece_size, size - piece_begin);
      const std::uint64_t skip = begin - std::min(begin, piece_begin);
      const std::uint64_t until = std::min(end - piece_begin, whole);
      parts.push_back({segment.kind, segment.which, segment.from + piece, until - skip, skip, whole});
    }
  }

  void read_column(const Part& part, Reply<Slices> reply) {
    const Segments::Source& source = segments_.sources_[part.which];
    read_whole(*streams_, {source.stream, source.slot, source.item_size, part.from, part.size},
               {.chosen = chosen_, .handed_over = true}, std::move(reply));
  }

  void add_in_place(const Part& part, Slices& to) {
    if (part.kind == Kind::fill) return to.pieces.push_back(std::span(kZeros).first(part.size));
    to.add(std::as_bytes(std::span(segments_.bytes_)).subspan(part.from, part.size), shared_from_this());
  }

  void answer_in_place(const std::vector<Part>& parts, Reply<Slices> reply) {
    const auto column = std::find_if(parts.begin(), parts.end(), [](const Part& p) { return p.kind == Kind::column; });
    Slices before, after;
    for (auto part = parts.begin(); part != column; ++part) add_in_place(*part, before);
    if (column == parts.end()) return reply(std::move(before));
    for (auto part = column + 1; part != parts.end(); ++part) add_in_place(*part, after);
    read_column(*column, [before = std::move(before), after = std::move(after),
                          reply = std::move(reply)](Result<Slices> items) mutable {
      if (!items) return reply(std::move(items));
      before.add(*items);
      before.add(after);
      reply(std::move(before));
    });
  }

  // Put together in a buffer: no part holds chunks in memory while another waits for some.
  void gather(std::vector<Part> parts, Reply<Slices> reply) {
    std::uint64_t size = 0;
    for (const Part& part : parts) size += part.size;
    auto buffer = std::make_shared<tfile::Buffer>(size);
    std::byte* to = buffer->data();
    for (Part& part : parts) {
      part.to = std::exchange(to, to + part.size);
      if (part.kind == Kind::fill) std::memset(part.to, static_cast<int>(part.which), part.size);
      if (part.kind == Kind::bytes) std::memcpy(part.to, segments_.bytes_.data() + part.from, part.size);
    }
    std::erase_if(parts, [](const Part& part) { return part.kind == Kind::fill || part.kind == Kind::bytes; });
    const std::size_t count = parts.size();
    auto read = [self = shared_from_this(), parts = std::move(parts)](std::size_t i, const Slices&, Reply<void> told) {
      self->read_part(parts[i], std::move(told));
    };
    when_all(count, count, one_slice(std::move(buffer)), std::move(read), std::move(reply));
  }

  void read_part(const Part& part, Reply<void> reply) {
    if (part.kind == Kind::column) {
      auto copy = [to = part.to](const Slices& slices) { copy_slices(slices, to); };
      return read_column(part, answer_with<Slices>(std::move(reply), std::move(copy)));
    }
    auto copy = [&part](const PiecePtr& piece) { std::memcpy(part.to, piece->data() + part.skip, part.size); };
    with_piece(part, answer_with<PiecePtr>(std::move(reply), std::move(copy)));
  }

  void with_piece(const Part& part, Reply<PiecePtr> reply) {
    const std::size_t key = std::size_t{part.which} << 32 | part.from;
    if (PiecePtr kept = streams_->pieces().find(this, key)) return reply(std::move(kept));
    auto making = std::make_shared<PieceMaker>(
        streams_, segments_.transforms_[part.which].transform, part.from, part.whole, chosen_,
        [self = shared_from_this(), key, reply = std::move(reply)](Result<PiecePtr> made) mutable {
          if (made) self->streams_->pieces().keep(self.get(), key, *made);
          reply(std::move(made));
        });
    making->start();
  }

  const std::shared_ptr<CachedStreams> streams_;
  const Segments segments_;
  const bool chosen_;
};

std::shared_ptr<Content> segment_content(std::shared_ptr<CachedStreams> streams, Segments segments, bool chosen) {
  return std::make_shared<SegmentContent>(std::move(streams), std::move(segments), chosen);
}

}  // namespace tfilefs
