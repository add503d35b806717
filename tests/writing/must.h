// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "tfile/result.h"

// Small programs that the tests run end when something fails, and say why.
[[noreturn]] inline void stop(const std::string& why) {
  std::cerr << why << "\n";
  std::exit(1);
}

template <class T>
T must(tfile::Result<T> result) {
  if (!result) stop(result.error().text);
  return *std::move(result);
}
inline void must(tfile::Result<> result) {
  if (!result) stop(result.error().text);
}
