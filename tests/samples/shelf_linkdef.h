// SPDX-License-Identifier: Apache-2.0
#ifdef __CLING__
#pragma link C++ struct Point+;
#pragma link C++ struct Inner+;
#pragma link C++ struct Shelf+;
#pragma link C++ class std::map<int,Point>+;
#pragma link C++ class std::map<std::string,std::vector<int>>+;
#pragma link C++ class std::map<int,float>+;
#pragma link C++ class std::map<int,std::map<int,float>>+;
#pragma link C++ class std::map<int,Inner>+;
#pragma link C++ class std::multimap<int,std::string>+;
#pragma link C++ class std::unordered_map<int,double>+;
#pragma link C++ class std::vector<std::vector<float>>+;
#pragma link C++ class std::vector<short>+;
#pragma link C++ class std::vector<std::vector<short>>+;
#pragma link C++ class std::vector<std::vector<std::vector<short>>>+;
#pragma link C++ class std::vector<std::vector<std::string>>+;
#pragma link C++ class std::set<std::string>+;
#pragma link C++ class std::multiset<float>+;
#pragma link C++ class std::unordered_set<int>+;
#pragma link C++ class std::deque<double>+;
#pragma link C++ class std::list<Point>+;
#pragma link C++ class std::vector<Inner>+;
#pragma link C++ class std::deque<Inner>+;
#pragma link C++ class std::vector<std::vector<Inner>>+;
#pragma link C++ class std::pair<int,float>+;
#pragma link C++ class std::pair<int,Point>+;
#pragma link C++ class std::pair<std::string,std::vector<int>>+;
#pragma link C++ class std::vector<std::pair<int,float>>+;
#pragma link C++ class std::vector<std::pair<int,Point>>+;
#pragma link C++ class std::vector<std::bitset<5>>+;
#endif
