// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tfilefs {

// A word of the command line as a path of this machine, where it is written in another way: "file:///data/a%20b.root"
// is "/data/a b.root", and "~/a.root", which a shell leaves alone in quotes, is in the user's home. Others as they are.
std::string local_name(std::string word);

}  // namespace tfilefs
