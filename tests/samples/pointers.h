// SPDX-License-Identifier: Apache-2.0
// A class with all kinds of pointers, collections of pointers, and members of ROOT's own classes with hand-written
// streamers.
#pragma once
#include <TBits.h>
#include <TClonesArray.h>
#include <THashList.h>
#include <TList.h>
#include <TMap.h>
#include <TMatrixD.h>
#include <TMatrixDSym.h>
#include <TNamed.h>
#include <TObjArray.h>
#include <TObjString.h>
#include <TRef.h>
#include <TRefArray.h>
#include <TVectorD.h>

#include <bitset>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <vector>

struct Hit {
  int id = 0;
  float energy = 0;
  std::vector<short> samples;
};

class Part : public TObject {
 public:
  int id = 0;
  ClassDefOverride(Part, 2)
};

class Track : public Part {
 public:
  float pt = 0;
  ClassDefOverride(Track, 3)
};

class Shower : public Part {
 public:
  std::vector<float> cells;
  ClassDefOverride(Shower, 1)
};

// Its own version is 0: ROOT writes nothing for it.
class Mixin {
 public:
  int mixed = 0;
  virtual ~Mixin() = default;
  ClassDef(Mixin, 0)
};

class Counted : public TObject, public Mixin {
 public:
  int n = 0;
  float* xs = nullptr;  //[n]
  int m = 0;
  Double32_t* ys = nullptr;  //[m]
  Counted() = default;
  Counted(const Counted&) = delete;
  void resize(int count, int count2) {
    delete[] xs;
    delete[] ys;
    n = count;
    m = count2;
    xs = n ? new float[n] : nullptr;
    ys = m ? new Double32_t[m] : nullptr;
  }
  ~Counted() override {
    delete[] xs;
    delete[] ys;
  }
  ClassDefOverride(Counted, 1)
};

class Owner : public TObject {
 public:
  Hit* one = nullptr;
  Hit* same = nullptr;  // the object of `one`, or another
  Part* part = nullptr;
  Hit* fixed[3] = {};
  std::vector<Hit*> hits;
  std::vector<Part*> parts;
  std::list<Hit*> hit_list;
  std::deque<Part*> part_deque;
  std::map<int, Hit*> by_number;
  std::unique_ptr<Hit> unique;
  int n = 0;
  Hit* loop = nullptr;       //[n]
  float* numbers = nullptr;  //[n]
  TRef ref;
  TRefArray refs;
  TMatrixDSym symmetric;
  TMatrixD matrix;
  TVectorD vector;
  TObjArray objects;
  TList list;
  THashList hash_list;
  TMap map;
  TClonesArray clones{"Track", 4};
  TClonesArray slots{"Track", 4};
  char* text = nullptr;
  std::bitset<10> bitset;
  TBits bits;
  TNamed* inside = new TNamed;  //->
  int last = 0;
  Owner() { slots.BypassStreamer(false); }
  ClassDefOverride(Owner, 1)
};
