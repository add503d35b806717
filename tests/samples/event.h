// SPDX-License-Identifier: Apache-2.0
// Classes with members of every kind, for the split levels of TTree::Branch.
#pragma once
#include <TClonesArray.h>
#include <TObject.h>
#include <TString.h>

#include <array>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

enum Side { kBelow = -1, kAbove = 70000 };

struct Hit {
  int id = 0;
  float energy = 0;
  double time[2] = {};
  short channel = 0;
  bool good = false;
  std::vector<float> samples;
  TString label;
  std::string text;
  virtual ~Hit() = default;
};

struct Pod {
  int a = 0;
  double b = 0;
};

class Particle : public TObject {
 public:
  float px = 0, py = 0;
  Double32_t pz = 0;  //[-100,100,20]
  int ids[3] = {};
  Double32_t weights[3] = {};  //[0,10,12]
  Double32_t plain_weights[2] = {};
  Float16_t halves[2] = {};
  TString label;
  std::vector<short> codes;
  ClassDefOverride(Particle, 1)
};

class Base {
 public:
  int base_id = 0;
  double base_x = 0;
  std::vector<int> base_list;
  virtual ~Base() = default;
  ClassDef(Base, 2)
};

class Event : public TObject, public Base {
 public:
  bool m_bool = false;
  char m_char = 0;
  unsigned char m_uchar = 0;
  short m_short = 0;
  unsigned short m_ushort = 0;
  int m_int = 0;
  unsigned int m_uint = 0;
  long m_long = 0;
  unsigned long m_ulong = 0;
  Long64_t m_long64 = 0;
  ULong64_t m_ulong64 = 0;
  float m_float = 0;
  double m_double = 0;
  Side m_enum = kBelow;
  Double32_t m_d32 = 0;
  Double32_t m_d32_range = 0;  //[0,10,12]
  Double32_t m_d32_wide = 0;   //[-twopi,twopi]
  Double32_t m_d32_bits = 0;   //[0,0,10]
  Float16_t m_f16 = 0;
  Float16_t m_f16_range = 0;  //[-1,1,9]
  Float16_t m_f16_bits = 0;   //[0,0,8]
  float m_array[4] = {};
  int m_matrix[2][3] = {};
  Double32_t m_d32_array[3] = {};  //[0,10,12]
  std::array<float, 3> m_stdarray = {};
  int m_count = 0;
  float* m_dynamic = nullptr;  //[m_count]
  std::string m_string;
  TString m_tstring;
  std::vector<bool> m_vbool;
  std::vector<int> m_vint;
  std::vector<float> m_vfloat;
  std::vector<Long64_t> m_vlong;
  std::vector<Double32_t> m_vd32;
  std::vector<std::string> m_vstring;
  std::list<short> m_list;
  std::deque<unsigned int> m_deque;
  std::set<int> m_set;
  std::map<int, float> m_map;
  std::vector<std::vector<int>> m_nested;
  Pod m_pod;
  Hit m_hit;
  std::vector<Pod> m_pods;
  std::vector<Hit> m_hits;
  TClonesArray m_particles{"Particle", 4};

  ~Event() override { delete[] m_dynamic; }
  ClassDefOverride(Event, 3)
};
