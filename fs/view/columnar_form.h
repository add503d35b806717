// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "cache/cluster_cache.h"
#include "view/table_form.h"

namespace tfilefs {

// The type of ROOT's strings in files whose strings must be UTF-8. ROOT's may hold any bytes.
enum class StringsAs : std::uint8_t {
  seen,    // bytes if the first chunk of a column is not UTF-8
  utf8,    // always strings
  binary,  // always bytes
};

// The form of a table in a columnar file: without columns that contradict their lists, and with bytes instead of
// strings where some string is not UTF-8. Of dates it says how many are none.
struct ColumnarForm {
  TableForm form;
  ColumnLengths lengths;
};
void columnar_form(const std::shared_ptr<CachedStreams>&, const std::shared_ptr<const tfile::Table>&, StringsAs,
                   Reply<ColumnarForm>);

}  // namespace tfilefs
