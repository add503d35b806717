// SPDX-License-Identifier: Apache-2.0
#include "object/object_plots.h"

namespace tfile {
namespace {

auto not_drawn() { return fail(ErrorKind::unsupported, "this program was built without plots"); }

}  // namespace

bool is_drawable_class(const StreamerInfos&, std::string_view) { return false; }

Result<> check_drawable(const StreamerInfos&, const ObjectMembers&) { return not_drawn(); }

Result<Plot> object_plot(const StreamerInfos&, const ObjectMembers&, const PayloadBytes&, std::uint64_t, Effort&) {
  return not_drawn();
}

Result<> check_curve(const StreamerInfos&, const ObjectMembers&) { return not_drawn(); }

Result<PlotPoints> sampled_function(const ObjectMembers&, Effort&) { return not_drawn(); }

}  // namespace tfile
