// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tfile/file.h"
#include "tfile/result.h"

namespace tfile {

// Gives records that have no name of their own, the blobs of RNTuples, the name of what they hold: "Events: header",
// "Events: page list of clusters 0 to 4", "Events: pages of pt, eta and 7 more columns". `records`: all of the file, by
// address. Reads the directories of the file and the metadata of its RNTuples; what cannot be read names nothing.
// Errors: io. Blocks.
Result<> name_blobs(const File& file, std::vector<Record>& records);

}  // namespace tfile
