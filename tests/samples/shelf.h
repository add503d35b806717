// SPDX-License-Identifier: Apache-2.0
// A class with all kinds of collections inside each other, and arrays of objects and collections.
#pragma once
#include <TNamed.h>
#include <TString.h>

#include <array>
#include <bitset>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

struct Point {
  int a = 0;
  double b = 0;
};

struct Inner {
  int id = 0;
  std::vector<float> xs;
  std::string name;
};

struct Shelf {
  std::map<int, Point> map_point;
  std::map<std::string, std::vector<int>> map_list;
  std::map<int, std::map<int, float>> map_map;
  std::map<int, Inner> map_inner;
  std::multimap<int, std::string> multi_map;
  std::unordered_map<int, double> hashed_map;
  std::vector<std::vector<float>> lists;
  std::vector<std::vector<std::vector<short>>> deep_lists;
  std::vector<std::vector<std::string>> texts;
  std::set<std::string> words;
  std::multiset<float> multi_set;
  std::unordered_set<int> hashed_set;
  std::deque<double> queue;
  std::list<Point> points;
  std::deque<Inner> inners;
  std::vector<std::vector<Inner>> nested_inners;
  std::pair<int, float> one_pair;
  std::pair<std::string, std::vector<int>> pair_list;
  std::vector<std::pair<int, float>> pairs;
  std::vector<std::pair<int, Point>> pairs_point;
  std::bitset<12> bits;
  std::vector<std::bitset<5>> bits_list;
  std::array<float, 4> numbers{};
  Point point_array[2];
  Inner inner_array[2];
  std::vector<int> list_array[2];
  std::string string_array[2];
  TString tstring_array[2];
  TNamed named_array[2];
  Inner inner;
  int last = 0;
};
