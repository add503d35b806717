// SPDX-License-Identifier: Apache-2.0
// Records whose members have names that the layout of a mount uses itself.
#pragma once
#include <string>
#include <vector>

struct Matrix {
  float values[3] = {};
};
struct Row {
  std::vector<float> values;
};
struct Letter {
  unsigned char chars = 0;
};
struct Byte {
  unsigned char raw = 0;
};
struct Steps {
  long long offsets = 0;
};
struct Text {
  long long offsets = 0;
  unsigned char chars = 0;
};
struct Choice {
  signed char tags = 0;
  long long index = 0;
  float x = 0;
};
struct Entry {
  std::string key;
  int value = 0;
};
struct Track {
  int n = 0;
  Matrix matrix;
  Row row;
  Letter letter;
  Byte byte;
  Steps steps;
  Choice choice;
  std::vector<Matrix> matrices;
};
