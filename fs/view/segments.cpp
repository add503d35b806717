// SPDX-License-Identifier: Apache-2.0
#include "view/segments.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "exec/answering.h"
#include "on_behalf.h"

namespace tfilefs {
namespace {

// A file cannot be larger than a signed 64-bit offset.
constexpr auto kFileMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

// Padding up to this size is answered from here, without a copy: more than any alignment needs.
constexpr std::array<std::byte, 4096> kZeros{};

// A piece of a transform that is being made.
struct PieceInMaking {
  const std::shared_ptr<CachedStreams> streams;
  const std::shared_ptr<const Transform> transform;
  const std::uint64_t piece, size;
  const bool chosen;
  std::uint64_t needed;  // bytes: of the piece, and of all that is read for it
  Inputs inputs;
};

// Reads further inputs, and makes the piece; or goes on with what depends on them. Its memory is not in the budget, so
// it is limited to what a request may take beyond the budget.
void make_piece(std::shared_ptr<PieceInMaking> of, std::vector<ColumnRange> inputs, Reply<PiecePtr> reply) {
  for (const ColumnRange& input : inputs)
    if (__builtin_add_overflow(of->needed, input.size, &of->needed))
      of->needed = std::numeric_limits<std::uint64_t>::max();
  if (of->needed > Budget::kBeyondMax)
    return reply(tl::unexpected<Error>(refusal(of->needed, "a mount", Budget::kBeyondMax)));
  auto make = [of](std::vector<ColumnRange> more, Reply<PiecePtr> answer) {
    if (!more.empty()) return make_piece(of, std::move(more), std::move(answer));
    std::string made(of->size, '\0');
    const Result<> done = of->transform->make(of->piece, of->inputs.bytes(), made);
    of->inputs = {};
    answer(done.map([&]() -> PiecePtr { return std::make_shared<const std::string>(std::move(made)); }));
  };
  auto ask = [of, make = std::move(make)](Inputs read, Reply<PiecePtr> answer) mutable {
    of->inputs = std::move(read);
    auto more = [of] { return of->transform->more_inputs(of->piece, of->inputs.bytes()); };
    of->streams->run_view_job(
        answering(std::move(more), value_for<std::vector<ColumnRange>>(std::move(answer), std::move(make))));
  };
  read_inputs(of->streams, std::move(inputs), {.chosen = of->chosen}, std::move(of->inputs),
              value_for<Inputs>(std::move(reply), std::move(ask)));
}

}  // namespace

Result<std::vector<ColumnRange>> Transform::more_inputs(std::uint64_t, std::span<const std::string_view>) const {
  return std::vector<ColumnRange>();
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

// With what it knows of its column, and the pages that columns of one shape share; measured for the columns of Arrow
// and Parquet files.
constexpr std::uint64_t kMemoryOfTransform = 512;

std::uint64_t Segments::memory() const {
  return bytes_.size() + segments_.size() * sizeof(Segment) + sources_.size() * sizeof(Source) +
         transforms_.size() * kMemoryOfTransform;
}

void Segments::shrink_to_fit() {
  bytes_.shrink_to_fit();
  segments_.shrink_to_fit();
  sources_.shrink_to_fit();
  transforms_.shrink_to_fit();
}

class SegmentContent : public Content, public std::enable_shared_from_this<SegmentContent> {
 public:
  SegmentContent(std::shared_ptr<CachedStreams> streams, Segments segments, bool chosen, std::uint64_t build_id)
      : streams_(std::move(streams)), segments_(std::move(segments)), chosen_(chosen), build_id_(build_id) {}
  ~SegmentContent() override { streams_->pieces().forget(this); }

  std::uint64_t size() const override { return segments_.size_; }
  std::uint64_t build_id() const override { return build_id_; }
  std::uint64_t memory() const override { return segments_.memory(); }

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
    auto read = [self = shared_from_this()](const Part& part, std::byte* to, Reply<void> done) {
      self->read_part(part, to, std::move(done));
    };
    put_together(std::move(parts), std::move(read), std::move(reply));
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
    auto enclose = [before = std::move(before), after = std::move(after)](const Slices& items) mutable {
      before.add(items);
      before.add(after);
      return std::move(before);
    };
    read_column(*column, answer_with<Slices>(std::move(reply), std::move(enclose)));
  }

  void read_part(const Part& part, std::byte* to, Reply<void> reply) {
    switch (part.kind) {
      case Kind::fill:
        std::memset(to, static_cast<int>(part.which), part.size);
        return reply({});
      case Kind::bytes:
        std::memcpy(to, segments_.bytes_.data() + part.from, part.size);
        return reply({});
      case Kind::column:
        return read_column(part, copied_to(to, std::move(reply)));
      case Kind::pieces:
        auto copy = [to, &part](const PiecePtr& piece) { std::memcpy(to, piece->data() + part.skip, part.size); };
        return with_piece(part, answer_with<PiecePtr>(std::move(reply), std::move(copy)));
    }
  }

  void with_piece(const Part& part, Reply<PiecePtr> reply) {
    const std::size_t key = std::size_t{part.which} << 32 | part.from;
    if (PiecePtr kept = streams_->pieces().find(this, key)) return reply(std::move(kept));
    const std::shared_ptr<const Transform>& transform = segments_.transforms_[part.which].transform;
    make_piece(std::make_shared<PieceInMaking>(
                   PieceInMaking{streams_, transform, part.from, part.whole, chosen_, part.whole, {}}),
               transform->inputs(part.from), keeping(streams_->pieces(), shared_from_this(), key, std::move(reply)));
  }

  const std::shared_ptr<CachedStreams> streams_;
  const Segments segments_;
  const bool chosen_;
  const std::uint64_t build_id_;
};

std::shared_ptr<Content> segment_content(std::shared_ptr<CachedStreams> streams, Segments segments, bool chosen,
                                         std::uint64_t build_id) {
  segments.shrink_to_fit();
  return std::make_shared<SegmentContent>(std::move(streams), std::move(segments), chosen, build_id);
}

}  // namespace tfilefs
