// SPDX-License-Identifier: Apache-2.0
#pragma once

// TFILE_DCHECK(condition): in debug, sanitizer and quick builds (TFILE_CHECKS) a condition that does not hold ends the
// process with a line that names it. In others it is not evaluated. For what a function demands of its caller; what a
// file or a server says is an error, never this. Not installed.
#ifdef TFILE_CHECKS
#include <cstdio>
#include <cstdlib>

#define TFILE_DCHECK(...)                                                                   \
  do {                                                                                      \
    if (!(__VA_ARGS__)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
      std::abort();                                                                         \
    }                                                                                       \
  } while (false)
#else
#define TFILE_DCHECK(...) static_cast<void>(sizeof(static_cast<bool>(__VA_ARGS__)))
#endif
