// SPDX-License-Identifier: Apache-2.0
#include "view/json_array.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "on_behalf.h"

namespace tfilefs {
namespace {

constexpr std::string_view kOpening = "[", kClosing = "]\n";

class JsonArrayContent final : public Content {
 public:
  explicit JsonArrayContent(std::shared_ptr<Content> lines) : lines_(std::move(lines)) {}

  std::uint64_t size() const override { return kOpening.size() + lines_->size() + kClosing.size(); }
  std::uint64_t build_id() const override { return lines_->build_id(); }
  std::uint64_t memory() const override { return lines_->memory(); }

  void read(std::uint64_t offset, std::size_t size, Reply<Slices> reply) override {
    const std::uint64_t end = offset + std::min<std::uint64_t>(size, this->size() - std::min(offset, this->size()));
    const std::uint64_t begin_of_lines = kOpening.size(), end_of_lines = begin_of_lines + lines_->size();
    Slices slices;
    add_text(kOpening, 0, offset, end, slices);
    const std::uint64_t first = std::clamp(offset, begin_of_lines, end_of_lines);
    const std::uint64_t behind = std::clamp(end, begin_of_lines, end_of_lines);
    auto close = [slices = std::move(slices), end_of_lines, offset, end](const Slices& lines) mutable {
      slices.add(lines);
      add_text(kClosing, end_of_lines, offset, end, slices);
      return std::move(slices);
    };
    auto closed = answer_with<Slices>(std::move(reply), std::move(close));
    if (first == behind) return closed(Slices());
    lines_->read(first - begin_of_lines, behind - first, std::move(closed));
  }

 private:
  // Adds the part of a text at a place that is in a range.
  static void add_text(std::string_view text, std::uint64_t at, std::uint64_t begin, std::uint64_t end, Slices& to) {
    const std::uint64_t first = std::clamp(begin, at, at + text.size()), behind = std::clamp(end, at, at + text.size());
    if (first < behind) to.add(std::as_bytes(std::span(text)).subspan(first - at, behind - first), nullptr);
  }

  const std::shared_ptr<Content> lines_;
};

}  // namespace

std::shared_ptr<Content> json_array(std::shared_ptr<Content> lines) {
  return std::make_shared<JsonArrayContent>(std::move(lines));
}

}  // namespace tfilefs
