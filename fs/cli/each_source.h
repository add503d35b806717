// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/source.h"

namespace tfilefs {

// One of the sources that a command line stands for.
struct OneSource {
  std::string name;            // a path or a URL
  std::string shown;           // the name for messages
  bool is_of_several = false;  // the command line stands for more than this one
};

// Arguments that each stand for one source, or for several (vfs/names/expand_sources.h).
struct SourceWords {
  std::vector<std::string> words;
  bool are_of_several = false;    // there are others
  bool enters = false;            // a directory of this machine stands for the ROOT files below it
  std::string_view command = "";  // one that takes whole files, for who names something in one; may be empty
};

// Runs a command for each of the sources that arguments stand for, in order. Returns all exit codes, joined bit by bit;
// `failure`, after a line on stderr, for an argument that stands for none.
int for_each_source(const SourceWords&, const tfile::RemoteOptions&, int failure,
                    const std::function<int(const OneSource&)>& run);

// The line above what is printed for a source that is one of several, and the empty line before it; nothing for a
// single one.
void print_title(const OneSource&);

}  // namespace tfilefs
