// SPDX-License-Identifier: Apache-2.0
// Debian's oneTBB is not instrumented, so reports from ThreadSanitizer about its functions are false.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race_top:tbb::\ncalled_from_lib:libtbb.so.12\n";
}
#endif
#endif
