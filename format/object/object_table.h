// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "object/object_arrays.h"
#include "object/object_members.h"
#include "tfile/effort.h"
#include "tfile/plot.h"
#include "tfile/result.h"

namespace tfile {

// Whether the object has a table of numbers: histograms, profiles, efficiencies and graphs of any dimension, bins of
// polygons, functions of one variable.
bool can_tabulate(const ObjectKind&, const StreamerInfos&, const ObjectMembers&);

// The numbers of an object: one line per bin (edges, content, error) or per point.
Result<Spreadsheet> object_spreadsheet(const StreamerInfos&, const ObjectMembers&, Effort&);

// Histograms with bins of any outline, and one of their bins.
bool is_polygons(const StreamerInfos&, std::string_view class_name);
bool is_polygon_bin(const ObjectMembers&, const std::string& bin);

}  // namespace tfile
