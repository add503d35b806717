// SPDX-License-Identifier: Apache-2.0
// std::array in collections, pairs and classes.
#pragma once
#include <array>
#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

struct Inner {
  int id = 0;
  std::vector<float> xs;
};

struct Cell {
  int n = 0;
  std::array<float, 3> at{};
  std::vector<std::array<int, 2>> edges;
  std::vector<std::vector<std::array<int, 2>>> rings;
};

struct Grid {
  int first = 0;
  std::array<float, 3> one{};
  std::array<Inner, 2> inners{};
  std::array<std::vector<int>, 2> lists{};
  std::array<std::string, 2> texts{};
  std::vector<std::array<float, 3>> points;
  std::vector<std::vector<std::array<int, 2>>> point_lists;
  std::vector<std::vector<std::vector<std::array<short, 2>>>> deep_lists;
  std::vector<std::array<int, 2>> list_array[2];
  std::vector<std::vector<std::array<int, 2>>> lists_array[2];
  std::list<std::array<short, 3>> shorts;
  std::deque<std::array<double, 2>> doubles;
  std::set<std::array<int, 2>> set;
  std::vector<std::array<bool, 3>> flags;
  std::vector<std::array<Inner, 2>> objects;
  std::vector<std::array<std::vector<float>, 2>> vectors;
  std::vector<std::array<std::string, 2>> strings;
  std::map<int, std::array<float, 3>> values;
  std::map<std::array<int, 2>, int> keys;
  std::map<int, std::vector<std::array<int, 2>>> map_list;
  std::map<int, std::map<int, std::array<int, 2>>> map_map;
  std::pair<int, std::array<float, 3>> one_pair;
  std::pair<std::array<int, 2>, std::vector<std::array<int, 2>>> pair_list;
  std::vector<std::pair<int, std::array<int, 2>>> pairs;
  std::vector<Cell> cells;
  std::vector<std::vector<Cell>> cell_lists;
  std::map<int, Cell> map_cell;
  Cell cell;
  int last = 0;
};
