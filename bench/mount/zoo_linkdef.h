// SPDX-License-Identifier: Apache-2.0
#ifdef __CLING__
#pragma link C++ struct Hit+;
#pragma link C++ class std::pair<const int,Hit>+;
#pragma link C++ class std::pair<const int,Hit*>+;
#pragma link C++ class std::pair<int,Hit>+;
#pragma link C++ class std::pair<int,Hit*>+;
#pragma link C++ class std::vector<Hit>+;
#pragma link C++ class std::list<Hit>+;
#pragma link C++ class std::deque<Hit>+;
#pragma link C++ class std::set<Hit>+;
#pragma link C++ class std::multiset<Hit>+;
#pragma link C++ class std::map<int,Hit>+;
#pragma link C++ class std::multimap<int,Hit>+;
#pragma link C++ class std::vector<Hit*>+;
#pragma link C++ class std::list<Hit*>+;
#pragma link C++ class std::deque<Hit*>+;
#pragma link C++ class std::set<Hit*>+;
#pragma link C++ class std::multiset<Hit*>+;
#pragma link C++ class std::map<int,Hit*>+;
#pragma link C++ class std::multimap<int,Hit*>+;
#endif
