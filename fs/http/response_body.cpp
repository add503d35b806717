// SPDX-License-Identifier: Apache-2.0
#include "http/response_body.h"

#include <algorithm>
#include <utility>

#include "on_behalf.h"

namespace tfilefs {

ResponseBody::ResponseBody(std::shared_ptr<TextSource> source, std::string begin)
    : made_(std::make_shared<MadeText>()) {
  made_->source = std::move(source);
  made_->piece = std::make_shared<const std::string>(std::move(begin));
}

void ResponseBody::add(std::string text) {
  if (text.empty()) return;
  const std::uint64_t begin = size(), end = begin + text.size();
  parts_.push_back({begin, end, std::make_shared<const std::string>(std::move(text)), 0});
}

void ResponseBody::add(const FileSpan& range) {
  if (range.size() == 0) return;
  const std::uint64_t begin = size();
  parts_.push_back({begin, begin + range.size(), nullptr, range.begin});
}

std::optional<std::uint64_t> ResponseBody::begin_of_file() const {
  const auto first = std::ranges::find(parts_, nullptr, &Part::text);
  return first == parts_.end() ? std::nullopt : std::optional(first->begin);
}

Slices ResponseBody::MadeText::take(std::size_t most) {
  if (!piece) return {};
  const std::size_t begin = sent;
  sent += std::min(most, piece->size() - begin);
  Slices taken = one_slice(std::as_bytes(std::span(*piece)).subspan(begin, sent - begin), piece);
  if (sent == piece->size()) piece = nullptr;
  return taken;
}

void ResponseBody::read_made(std::size_t most, Reply<Slices> reply) const {
  if (made_->piece || !made_->source->is_more()) return reply(made_->take(most));
  auto take = [made = made_, most](std::string piece) {
    made->piece = std::make_shared<const std::string>(std::move(piece));
    made->sent = 0;
    return made->take(most);
  };
  made_->source->next(answer_with<std::string>(std::move(reply), std::move(take)));
}

void ResponseBody::read(std::uint64_t position, std::size_t most, Reply<Slices> reply) const {
  if (made_) return read_made(most, std::move(reply));
  const auto at = std::ranges::upper_bound(parts_, position, {}, &Part::end);
  if (at == parts_.end()) return reply(tfile::fail(ErrorKind::invalid, "beyond the end of a response"));
  const std::uint64_t inside = position - at->begin;
  const std::size_t size = std::min<std::uint64_t>(most, at->end - position);
  if (at->text) return reply(one_slice(std::as_bytes(std::span(*at->text)).subspan(inside, size), at->text));
  auto check = [file = file_](Result<Slices>& slices) {
    if (slices && slices->size() == 0) slices = tfile::fail(ErrorKind::stale, "the file has become shorter");
  };
  file_->fs.read(file_->handle.id(), at->offset + inside, size, seen_by(std::move(reply), std::move(check)));
}

std::string content_range(const FileSpan& range, std::uint64_t size) {
  return "bytes " + std::to_string(range.begin) + "-" + std::to_string(range.end - 1) + "/" + std::to_string(size);
}

ResponseBody body_of_ranges(std::shared_ptr<const ServedFile> file, const std::vector<FileSpan>& ranges,
                            std::uint64_t size, std::string_view type, std::string_view boundary) {
  ResponseBody body(std::move(file));
  const std::string separator = "\r\n--" + std::string(boundary);
  for (const FileSpan& range : ranges) {
    body.add(separator + "\r\nContent-Type: " + std::string(type) + "\r\nContent-Range: " + content_range(range, size) +
             "\r\n\r\n");
    body.add(range);
  }
  body.add(separator + "--\r\n");
  return body;
}

}  // namespace tfilefs
