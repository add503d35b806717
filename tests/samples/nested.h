// SPDX-License-Identifier: Apache-2.0
// Classes whose TClonesArrays contain objects of the same class: as a member, behind a pointer, and through another
// class.
#pragma once
#include <TClonesArray.h>
#include <TObject.h>

class Quark : public TObject {
 public:
  int id = 0;
  TClonesArray subs{"Quark", 0};
  float pt = 0;
  ClassDefOverride(Quark, 1)
};

class Linked : public TObject {
 public:
  int id = 0;
  TClonesArray* subs = nullptr;
  TClonesArray* sure = new TClonesArray("Linked", 0);  //->
  ClassDefOverride(Linked, 1)
};

class Even;
class Odd : public TObject {
 public:
  TClonesArray evens{"Even", 0};
  short number = 0;
  ClassDefOverride(Odd, 1)
};
class Even : public TObject {
 public:
  TClonesArray odds{"Odd", 0};
  short number = 0;
  ClassDefOverride(Even, 1)
};
