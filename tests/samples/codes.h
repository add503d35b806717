// SPDX-License-Identifier: Apache-2.0
// Enumerations in collections: as long as an int, and of other lengths.
#pragma once
#include <deque>
#include <list>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

enum Plain { kNone, kOne, kSeven = 7, kLarge = 4000000000u };
enum Signed { kLess = -5, kNull, kMore = 6 };
enum class Small : unsigned char { a = 1, b = 200 };
enum class Short : short { a = -300, b = 30000 };
enum class Wide : long long { a = -1, b = 1LL << 40 };

enum Lone { kLone = 7 };
enum class LoneByte : unsigned char { a = 7 };

struct Scope {
  enum class Kind { x = 3, y = 60000 };
  int i = 0;
  std::vector<Kind> kinds;
};

// Of enumerations of four bytes.
struct Codes {
  int first = 0;
  Signed single{};
  Signed fixed[2]{};
  std::vector<Plain> plains;
  std::vector<Signed> signeds;
  std::list<Signed> list;
  std::deque<Plain> queue;
  std::set<Plain> set;
  std::multiset<Signed> multi_set;
  std::unordered_set<Signed> hashed_set;
  std::vector<std::vector<Plain>> lists;
  std::vector<std::vector<std::vector<Signed>>> deep_lists;
  std::vector<Plain> list_array[2];
  std::map<int, Plain> values;
  std::map<Signed, int> keys;
  std::map<Signed, Plain> both;
  std::map<int, std::vector<Signed>> map_list;
  std::map<int, std::map<int, Plain>> map_map;
  std::pair<int, Signed> one_pair;
  std::vector<std::pair<Signed, float>> pairs;
  std::vector<std::vector<std::pair<Signed, float>>> pair_lists;
  std::vector<Scope> scopes;
  std::vector<std::vector<Scope>> scope_lists;
  Scope scope;
  int last = 0;
};

// Of other enumerations, which ROOT stores as int in some collections, and as long as they are in others.
struct Lengths {
  std::vector<Small> smalls;
  std::vector<Short> shorts;
  std::set<Small> set_small;
  std::multiset<Short> set_short;
  std::list<Small> list_small;
  std::deque<Short> queue_short;
  std::vector<std::vector<Small>> small_lists;
  std::vector<std::vector<Wide>> wide_lists;
  std::vector<std::vector<std::vector<Short>>> short_lists;
  std::map<int, Small> values;
  std::map<Small, int> keys;
  std::map<Short, Wide> both;
  std::map<int, std::map<int, Small>> map_map;
  int last = 0;
};

// ROOT leaves enumerations of 8 bytes out of a pair that has a dictionary.
struct Wides {
  std::map<Wide, Wide> both;
  std::vector<std::map<Wide, Wide>> maps;
  int last = 0;
};

// ROOT stores only a part of the items of these.
struct Lost {
  std::map<int, std::vector<Small>> map_list;
  int last = 0;
};
