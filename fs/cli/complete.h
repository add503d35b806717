// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tfilefs {

// The words that may stand in the place of the last word of a command line.
struct Completion {
  struct Offer {
    std::string word;  // all of it, what was typed included
    std::string_view does;
  };
  std::vector<Offer> offers;
  bool files = false, directories = false;  // also those of the host, which a shell finds better
};

// `words`: those behind the program's name; the last one, which may be empty, is to be completed. Opens a local ROOT
// file in whose path the last word is. Asks no server.
Completion completion_of(std::span<const std::string> words);

// The scripts through which shells call the program (packaging/completion).
extern const std::string_view kBashCompletion, kZshCompletion, kFishCompletion;

}  // namespace tfilefs
