// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/classes.h"

namespace tfile {

// A header for each class that the file describes or that is the type of a member, except for the classes of ROOT and
// of the standard library.
std::vector<ClassHeader> class_headers(const StreamerInfos&);

// The classes and elements as the file describes them.
std::vector<ClassDescription> class_descriptions(const StreamerInfos&);

}  // namespace tfile
