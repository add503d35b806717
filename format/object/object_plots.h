// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "bytes/payload_bytes.h"
#include "object/object_members.h"
#include "tfile/effort.h"
#include "tfile/plot.h"
#include "tfile/result.h"

namespace tfile {

// All that other rooms see of the library of format/plot. A build without it (TFILEFS_PLOTS) has no_plots.cpp instead:
// nothing can be drawn, and no function is known.

// Larger histograms are drawn with joined bins, of which there are no more than the second.
inline constexpr std::uint64_t kDrawnWhole = 1'000'000, kDrawnJoined = 480 * 480;

// Whether an object can be drawn: histograms, profiles, efficiencies and functions of one and two dimensions, bins of
// polygons, graphs, and containers of these. A function can be drawn if its formula is understood or points were saved.
// Errors: unsupported, with the reason.
Result<> check_drawable(const StreamerInfos&, const ObjectMembers&);
inline bool is_drawable(const StreamerInfos& infos, const ObjectMembers& members) {
  return check_drawable(infos, members).has_value();
}

// The same by the class alone; true for every function of one or two variables.
bool is_drawable_class(const StreamerInfos&, std::string_view class_name);

// The most numbers in the plot of a container.
inline constexpr std::uint64_t kDrawnTogether = 5'000'000;

// The plot of an object. A container is drawn with at most `numbers` numbers. Errors: unsupported (a formula that is
// not understood), damaged.
Result<Plot> object_plot(const StreamerInfos&, const ObjectMembers&, const PayloadBytes&, std::uint64_t numbers,
                         Effort&);

// Whether the object is a function of one variable with points: its formula is understood, or points were saved.
// Errors: unsupported, with the reason.
Result<> check_curve(const StreamerInfos&, const ObjectMembers&);

// Its points: those saved with it, else its formula at fNpx + 1 places. Errors: as above; damaged.
Result<PlotPoints> sampled_function(const ObjectMembers&, Effort&);

}  // namespace tfile
