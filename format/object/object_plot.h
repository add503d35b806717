// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "object/object_arrays.h"
#include "object/object_members.h"
#include "tfile/object.h"

namespace tfile {

// Whether objects of this class can be drawn: histograms, profiles, efficiencies and functions of one and two
// dimensions, bins of polygons, graphs.
bool can_plot(const ObjectKind&, const StreamerInfos&, std::string_view class_name);

// Whether they have a table of numbers: the above of any dimension, functions of one.
bool can_tabulate(const ObjectKind&, const StreamerInfos&, std::string_view class_name);

// What is to be drawn. Errors: unsupported (a formula that is not understood), damaged.
Result<Plot> object_plot(const ObjectKind&, const StreamerInfos&, std::string_view class_name, const ObjectMembers&,
                         Effort&);

// The numbers of it: a line a bin (its borders, content, error) or a point.
Result<Spreadsheet> object_spreadsheet(const ObjectKind&, const StreamerInfos&, std::string_view class_name,
                                       const ObjectMembers&, Effort&);

}  // namespace tfile
