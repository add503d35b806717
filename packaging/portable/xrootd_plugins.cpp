// SPDX-License-Identifier: Apache-2.0
// The client of XRootD loads its ways to authenticate as libraries. The portable program holds those that Debian's
// client has, but for Kerberos, and gives itself in their place: it exports what they would
// (packaging/portable/portable.cmake).
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace {

constexpr std::array<std::string_view, 7> kInside{"libXrdSec-5.so",      "libXrdSecProt-5.so", "libXrdSecgsi-5.so",
                                                  "libXrdSecsss-5.so",   "libXrdSecunix-5.so", "libXrdSecztn-5.so",
                                                  "libXrdCryptossl-5.so"};

}  // namespace

// In place of dlopen() in XrdSysPlugin. Other plug-ins are loaded from the machine, if it has them.
extern "C" void* tfilefs_open_xrootd_plugin(const char* path, int flags) {
  const std::string_view asked = path ? path : "";
  const bool is_inside = std::find(kInside.begin(), kInside.end(), asked.substr(asked.rfind('/') + 1)) != kInside.end();
  return dlopen(is_inside ? nullptr : path, flags);
}
