// SPDX-License-Identifier: Apache-2.0
#include "source/remote_module.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>

namespace tfile {
namespace {

// By its path, since a RUNPATH would be searched for each library of the program, at each start. A program that is
// elsewhere, with this library in it, gives a RUNPATH of its own.
std::string module_path() {
  constexpr const char* kName = "tfilefs-remote.so";
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  auto path = program.parent_path() / ".." / TFILE_MODULE_DIR / kName;
  return !error && std::filesystem::exists(path, error) ? path.string() : kName;
}

// Never unloaded: its threads live as long as the process.
Result<const RemoteLibraries*> load() {
  if (&tfile_remote_libraries) return &tfile_remote_libraries;
  void* const module = ::dlopen(module_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  const void* const found = module ? ::dlsym(module, "tfile_remote_libraries") : nullptr;
  if (found) return static_cast<const RemoteLibraries*>(found);
  const char* const why = ::dlerror();
  return fail(ErrorKind::unsupported,
              std::string("cannot load the library that reads URLs: ") + (why ? why : "unknown"));
}

}  // namespace

Result<const RemoteLibraries*> remote_libraries() {
  static const Result<const RemoteLibraries*> loaded = load();
  return loaded;
}

}  // namespace tfile
