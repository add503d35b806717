// SPDX-License-Identifier: Apache-2.0
// The command line of the programs that compiled.py runs.
#pragma once
#include <cstdlib>
#include <string>

// `write FILE SPLIT COMPRESSION BASKET_SIZE ENTRIES` and `dump FILE ANSWER`. Gives the status of the process: 2 for
// other words.
template <class Write, class Dump>
int run_command(int count, char** words, Write write, Dump dump) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "write" && count == 7) {
    write(words[2], std::atoi(words[3]), std::atoi(words[4]), std::atoi(words[5]), std::atoi(words[6]));
  } else if (what == "dump" && count == 4) {
    dump(words[2], words[3]);
  } else {
    return 2;
  }
  return 0;
}
