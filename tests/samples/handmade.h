// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <TBuffer.h>
#include <TNamed.h>

#include <vector>

// Classes whose Streamer is written by hand: their bytes do not follow their description.

// Stores its numbers as differences, and how many there are in one byte.
class Packed {
 public:
  std::vector<int> numbers;
  float scale = 0;
  virtual ~Packed() = default;
  ClassDef(Packed, 3)
};

// Its own bytes follow its description, up to those of its member.
class Holder {
 public:
  int id = 0;
  Packed packed;
  double weight = 0;
  virtual ~Holder() = default;
  ClassDef(Holder, 2)
};

// The same, of a class without ClassDef.
struct Plain {
  short code = 0;
  Packed packed;
};

// Points to the same object twice: the second time its bytes are a reference.
class Twice {
 public:
  TNamed* one = nullptr;  //!
  int number = 0;
  virtual ~Twice() { delete one; }
  ClassDef(Twice, 1)
};
