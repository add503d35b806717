// SPDX-License-Identifier: Apache-2.0
// TFILEFS_SANITIZED: a sanitizer replaces operator new and pthread_create() itself, so that tests cannot.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TFILEFS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TFILEFS_SANITIZED 1
#endif
#endif
