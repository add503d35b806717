// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tfile/source.h"

namespace tfile {

// The same source, of which the bytes that were read last are kept in memory: what is read through to reach the wanted
// bytes is wanted next, and a request costs a round trip. Large ranges are not kept, for they are the columns of which
// the chunks are kept.
std::shared_ptr<const Source> keep_bytes(std::shared_ptr<const Source> far);

}  // namespace tfile
