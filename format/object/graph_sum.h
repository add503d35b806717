// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "object/summed_payload.h"
#include "tfile/result.h"

namespace tfile {

// Whether graphs of this class of ROOT's own can be added to each other.
bool is_summed_graph(std::string_view class_name);

// Appends the points of a graph, with their errors, to those of another one of the same class, as TGraph::Merge does.
// Changes `to` also where it fails. Errors: unsupported (a member of one of them cannot be read), damaged.
Result<> add_graph(SummedPayload& to, const std::string& path, const SummedPayload& from);

}  // namespace tfile
