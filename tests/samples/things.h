// SPDX-License-Identifier: Apache-2.0
// Classes of objects that are keys of their own, and that point to each other.
#pragma once
#include <TNamed.h>

#include <string>
#include <vector>

struct Part {
  int number = 0;
  double size[2] = {};
};

class Thing : public TNamed {
 public:
  std::vector<Part> parts;
  std::string text;
  Part* part = nullptr;
  TObject* other = nullptr;
  Thing* again = nullptr;
  Thing() = default;
  Thing(const char* name, int count) : TNamed(name, "a thing"), text(name) {
    for (int i = 0; i < count; ++i) parts.push_back({i, {i * 1., i * 2.}});
  }
  ClassDefOverride(Thing, 3)
};
