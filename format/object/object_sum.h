// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "object/summed_payload.h"
#include "streamer/info/streamer_info.h"
#include "tfile/result.h"

namespace tfile {

// Whether objects of this class can be added to each other, as far as its name tells.
bool is_summed(const StreamerInfos&, std::string_view class_name);
// Whether some of an object of this class may have been changed when it turns out that it cannot be added.
bool has_summed_parts(const StreamerInfos&, std::string_view class_name);

// Whether an object stands for an equal one, too: nothing is in it that hadd would add.
bool stands_for_equals(const SummedPayload&);

// Adds another object of the same class, as the Merge() of that class does, which hadd calls. Changes `to` also where
// it fails, if it has several parts. Errors: unsupported (why it is not added), damaged.
Result<> add_object(SummedPayload& to, const SummedPayload& from);

}  // namespace tfile
