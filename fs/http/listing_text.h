// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "http/directory_items.h"
#include "http/listing_page.h"
#include "http/text_source.h"

namespace tfilefs {

// The listing in that form, in pieces of some 50 KB.
std::shared_ptr<TextSource> listing_text(std::shared_ptr<DirectoryItems>, ListingForm);

// A text, not an empty one, that is made anew for each piece: what is not sent yet is not held. Error of a piece: stale
// (the text is another now).
using MakeText = std::function<void(Reply<std::string>)>;
std::shared_ptr<TextSource> remade_text(MakeText);

}  // namespace tfilefs
