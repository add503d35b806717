// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "cache/cluster_cache.h"
#include "view/table_form.h"

namespace tfilefs {

// What strings are in files that promise UTF-8 of them: strings or bytes. ROOT's may be anything.
enum class StringsAs : std::uint8_t {
  seen,    // bytes where the first chunk of a column is no UTF-8
  utf8,    // always strings
  binary,  // always bytes
};

// The form of a table as a columnar file shows it, without what contradicts its lists; strings of which some are no
// UTF-8 are bytes.
struct ColumnarForm {
  TableForm form;
  ColumnLengths lengths;
};
void columnar_form(const std::shared_ptr<CachedStreams>&, const std::shared_ptr<const tfile::Table>&, StringsAs,
                   Reply<ColumnarForm>);

}  // namespace tfilefs
