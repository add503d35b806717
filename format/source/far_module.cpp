// SPDX-License-Identifier: Apache-2.0
#include "source/far_module.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>

namespace tfile {
namespace {

// By its path, since a RUNPATH would be searched for each library of the program, at each start. A program that is
// elsewhere, with this library in it, gives a RUNPATH of its own.
std::string module_path() {
  constexpr const char* kName = "tfilefs-far.so";
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  auto path = program.parent_path() / ".." / TFILE_MODULE_DIR / kName;
  return !error && std::filesystem::exists(path, error) ? path.string() : kName;
}

// Never unloaded: its threads live as long as the process.
Result<const FarLibraries*> load() {
  if (&tfile_far_libraries) return &tfile_far_libraries;
  void* const module = ::dlopen(module_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  const void* const found = module ? ::dlsym(module, "tfile_far_libraries") : nullptr;
  if (found) return static_cast<const FarLibraries*>(found);
  const char* const why = ::dlerror();
  return fail(ErrorKind::unsupported,
              std::string("cannot load the library that reads URLs: ") + (why ? why : "unknown"));
}

}  // namespace

Result<const FarLibraries*> far_libraries() {
  static const Result<const FarLibraries*> loaded = load();
  return loaded;
}

}  // namespace tfile
