// SPDX-License-Identifier: Apache-2.0
#include "http/listing_text.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "on_behalf.h"

namespace tfilefs {
namespace {

constexpr std::size_t kTextPieceSize = 48 << 10;

class ListingText final : public TextSource, public std::enable_shared_from_this<ListingText> {
 public:
  ListingText(std::shared_ptr<DirectoryItems> items, ListingForm form)
      : items_(std::move(items)), form_(std::move(form)) {}

  void next(Reply<std::string> reply) override {
    constexpr std::size_t kItemSize = 400, kItemsMost = 128;
    const std::size_t most = std::clamp<std::size_t>(kTextPieceSize / (form_.item_size + kItemSize), 1, kItemsMost);
    auto take = [self = shared_from_this()](const std::vector<ServedItem>& items) { return self->text_of(items); };
    items_->next(most, answer_with<std::vector<ServedItem>>(std::move(reply), std::move(take)));
  }
  bool is_more() const override { return !has_begun_ || items_->is_more(); }

 private:
  std::string text_of(const std::vector<ServedItem>& items) {
    std::string text = std::exchange(has_begun_, true) ? "" : form_.begin;
    for (const ServedItem& item : items) {
      const std::string shown = form_.item(item);
      if (!shown.empty()) text += (std::exchange(has_items_, true) ? form_.between : form_.first) + shown;
    }
    if (!items_->is_more()) text += form_.end;
    return text.empty() ? "\n" : text;  // items that are not shown
  }

  const std::shared_ptr<DirectoryItems> items_;
  const ListingForm form_;
  bool has_begun_ = false, has_items_ = false;
};

class RemadeText final : public TextSource, public std::enable_shared_from_this<RemadeText> {
 public:
  explicit RemadeText(MakeText make) : make_(std::move(make)) {}

  void next(Reply<std::string> reply) override {
    auto take = [self = shared_from_this()](const std::string& text) { return self->piece_of(text); };
    make_(answer_with<std::string>(std::move(reply), std::move(take)));
  }
  bool is_more() const override { return sent_ < size_; }

 private:
  Result<std::string> piece_of(const std::string& text) {
    const std::size_t hash = std::hash<std::string>()(text);
    if (sent_ == 0) {
      size_ = text.size();
      hash_ = hash;
    } else if (text.size() != size_ || hash != hash_) {
      return tfile::fail(ErrorKind::stale, "has changed while it was sent");
    }
    std::string piece = text.substr(sent_, kTextPieceSize);
    sent_ += piece.size();
    return piece;
  }

  const MakeText make_;
  std::size_t sent_ = 0, size_ = 1, hash_ = 0;
};

}  // namespace

std::shared_ptr<TextSource> listing_text(std::shared_ptr<DirectoryItems> items, ListingForm form) {
  return std::make_shared<ListingText>(std::move(items), std::move(form));
}

std::shared_ptr<TextSource> remade_text(MakeText make) { return std::make_shared<RemadeText>(std::move(make)); }

}  // namespace tfilefs
