// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/classes.h"

namespace tfile {

// A header for each class that the file describes, or that one of its members is of; not for ROOT's and the standard
// library's own.
std::vector<ClassHeader> class_headers(const StreamerInfos&);

// The elements as they are, for those who want to see them.
std::vector<ClassDescription> class_descriptions(const StreamerInfos&);

}  // namespace tfile
