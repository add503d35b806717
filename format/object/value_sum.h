// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "object/summed_payload.h"
#include "tfile/result.h"

namespace tfile {

// Objects that are a few numbers, added to each other as their Merge() does. Errors: unsupported, damaged.

// TParameter: by the mode of the first. TSelectorScalar (`is_sum`) is a sum in any mode.
Result<> add_parameter(SummedPayload& to, const std::string& path, const SummedPayload& from, bool is_sum);

// TStatistic: sums of values and weights.
Result<> add_statistic(SummedPayload& to, const std::string& path, const SummedPayload& from);

// TEventList: entries of both, in their order, and both conditions in the title.
Result<> add_event_list(SummedPayload& to, const std::string& path, const SummedPayload& from);

}  // namespace tfile
