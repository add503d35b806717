// SPDX-License-Identifier: Apache-2.0
// Classes of the fields of ntuple.cpp. `members` visits the members that an RNTuple stores, with their names in it.
#pragma once
#include <TObject.h>

#include <ROOT/RVec.hxx>
#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

enum Wind { kWest = -1, kNorth = 3, kEast = 70000 };
enum class Size : std::uint8_t { kSmall = 1, kLarge = 200 };

struct Empty {};

struct Empties {
  Empty first, second;
};

struct Point {
  float x = 0;
  std::int32_t n = 0;
};

struct Base {
  std::int32_t id = 0;
  std::vector<std::int16_t> codes;
};

struct Middle : Base {
  double weight = 0;
};

struct Mixin {
  std::string note;
};

struct Derived : Middle, Mixin {
  Point point;
};

template <class T>
struct Box {
  T inside{};
  std::vector<T> more;
};

struct Jet {
  float pt = 0;
  std::string name;
  std::vector<std::int32_t> hits;
  Point axis;
};

struct Event {
  bool flag = false;
  char letter = 0;
  std::byte byte{};
  Wind wind{};
  Size size{};
  std::atomic<std::int32_t> counter{0};
  std::bitset<13> bits;
  Double32_t narrow = 0;
  std::unique_ptr<float> perhaps;
  std::unique_ptr<Jet> jet;
  float matrix[2][3] = {};
  std::array<std::string, 2> names;
  std::vector<Point> points;
  std::vector<std::vector<Point>> groups;
  std::map<std::string, std::vector<Point>> index;
  std::variant<std::int32_t, std::string, std::vector<float>> either;
  std::pair<std::int16_t, std::string> pair;
  Empty nothing;
  std::int32_t unsaved = 0;  //!
};

class Heir : public TObject {
 public:
  std::int32_t n = 0;
  std::string text;
  ClassDefOverride(Heir, 2)
};

// Written by its streamer: options=rntupleStreamerMode(true).
struct Unsplit {
  std::int32_t n = 0;
  std::vector<float> numbers;
  std::string text;
};

// A collection only by virtue of its collection proxy.
template <class T>
struct Bag {
  using IsCollectionProxy = std::true_type;
  std::vector<T> items;
};

// options=rntupleSoARecord: ROOT requires these two in the global namespace, and with the same version.
struct PointRecord {
  float x = 0;
  std::int32_t n = 0;
  ClassDefNV(PointRecord, 2)
};

struct PointSoA {
  ROOT::RVec<float> x;
  ROOT::RVec<std::int32_t> n;
  ClassDefNV(PointSoA, 2)
};
