// SPDX-License-Identifier: Apache-2.0
#include "source/far_module.h"

#include <dlfcn.h>

namespace tfile {
namespace {

// Never unloaded: its threads live as long as the process.
Result<const FarLibraries*> load() {
  if (&tfile_far_libraries) return &tfile_far_libraries;
  void* const module = ::dlopen("tfilefs-far.so", RTLD_NOW | RTLD_LOCAL);
  const void* const found = module ? ::dlsym(module, "tfile_far_libraries") : nullptr;
  if (found) return static_cast<const FarLibraries*>(found);
  const char* const why = ::dlerror();
  return fail(ErrorKind::unsupported, std::string("what reads URLs cannot be loaded: ") + (why ? why : "unknown"));
}

}  // namespace

Result<const FarLibraries*> far_libraries() {
  static const Result<const FarLibraries*> loaded = load();
  return loaded;
}

}  // namespace tfile
