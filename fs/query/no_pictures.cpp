// SPDX-License-Identifier: Apache-2.0
#include "query/pictures.h"

namespace tfilefs {

bool has_pictures() { return false; }

std::string plot_svg(const tfile::Plot&) { return {}; }

Result<tfile::Plot> drawn_plot(const Drawing&, bool) {
  return tfile::fail(ErrorKind::unsupported, "this program was built without plots");
}

}  // namespace tfilefs
