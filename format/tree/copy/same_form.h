// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "streamer/info/known_descriptions.h"
#include "tfile/result.h"
#include "tree/copy/source_tree.h"

namespace tfile {

// Whether baskets of another tree can stand behind those of the first: what they mean is only in the trees' records
// and in the descriptions of classes, and the copy has those of the first. `copied`: by branch, which of them count.
// `described`: by the files before. Errors: unsupported (what is not the same), not_found (files of baskets).
Result<> check_same_form(const SourceTree& first, const SourceTree& other, const std::vector<bool>& copied,
                         const KnownDescriptions& described);

}  // namespace tfile
