// SPDX-License-Identifier: Apache-2.0
#include "view/pieced_content.h"

#include <string>
#include <utility>

#include "view/segments.h"

namespace tfilefs {
namespace {

class TextPieces final : public Transform {
 public:
  explicit TextPieces(std::shared_ptr<const tfile::PiecedText> text) : text_(std::move(text)) {}

  std::vector<ColumnRange> inputs(std::uint64_t piece) const override {
    std::vector<ColumnRange> ranges;
    for (const tfile::ByteRange range : text_->pieces[piece].payload)
      ranges.push_back({0, 0, 1, range.begin, range.size});
    return ranges;
  }
  Result<void> make(std::uint64_t piece, std::span<const std::string_view> inputs, std::span<char> to) const override {
    if (inputs.size() == 1) return text_->make(piece, std::as_bytes(std::span(inputs[0])), to);
    std::string joined;
    for (const std::string_view input : inputs) joined += input;
    return text_->make(piece, std::as_bytes(std::span(joined)), to);
  }

 private:
  const std::shared_ptr<const tfile::PiecedText> text_;
};

}  // namespace

std::shared_ptr<Content> pieced_content(std::shared_ptr<CachedStreams> payload,
                                        std::shared_ptr<const tfile::PiecedText> text) {
  Segments segments;
  const std::uint32_t transform = segments.add_transform(std::make_shared<TextPieces>(text));
  for (std::size_t i = 0; i < text->pieces.size(); ++i) {
    const tfile::PiecedText::Piece& piece = text->pieces[i];
    if (piece.text.empty())
      segments.add_piece(transform, i, piece.size);
    else
      segments.add_bytes(piece.text);
  }
  return segment_content(std::move(payload), std::move(segments));
}

}  // namespace tfilefs
