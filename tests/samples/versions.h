// SPDX-License-Identifier: Apache-2.0
// Two versions of classes: with removed, new and reordered members.
#pragma once
#include <TObject.h>

#include <string>
#include <vector>

#if PART_VERSION == 1
struct Corner {
  int x = 0, old = 7;
  virtual ~Corner() = default;
  ClassDef(Corner, 1)
};
struct Part : public TObject {
  int a = 0;
  std::vector<std::vector<float>> gone;
  std::vector<int> list;
  Corner corner;
  int same = 0;
  ClassDefOverride(Part, 1)
};
#else
struct Corner {
  double added = 0;
  int x = 0;
  virtual ~Corner() = default;
  ClassDef(Corner, 3)
};
struct Part : public TObject {
  int same = 0;
  int a = 0;
  std::vector<int> list;
  Corner corner;
  double more = 0;
  std::string text;
  ClassDefOverride(Part, 2)
};
#endif

struct Whole : public TObject {
  int n = 0;
  Part part;
  std::vector<Part> parts;
  ClassDefOverride(Whole, 1)
};
