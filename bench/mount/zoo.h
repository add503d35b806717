// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <TObject.h>

#include <deque>
#include <list>
#include <map>
#include <set>
#include <vector>

struct Hit : public TObject {
  int channel = 0;
  float x = 0, y = 0, z = 0, energy = 0;
  double time = 0;
  bool operator<(const Hit& other) const { return channel < other.channel; }
  ClassDefOverride(Hit, 1)
};
