// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "tfile/source.h"

namespace tfilefs {

// One of the sources that an argument stands for.
struct OneSource {
  std::string name;            // a path or a URL
  std::string shown;           // the name for messages
  bool is_of_several = false;  // the argument stands for more than this one
};

// Runs a command for each of the sources that an argument stands for (vfs/names/expand_sources.h), in order. Returns
// all exit codes, joined bit by bit; `failure`, after a line on stderr, if there are none.
int for_each_source(const std::string& argument, const tfile::RemoteOptions&, int failure,
                    const std::function<int(const OneSource&)>& run);

// The line above what is printed for a source that is one of several, and the empty line before it; nothing for a
// single one.
void print_title(const OneSource&);

}  // namespace tfilefs
