// SPDX-License-Identifier: Apache-2.0
#ifdef __CLING__
#pragma link C++ struct Inner+;
#pragma link C++ struct Cell+;
#pragma link C++ struct Grid+;
#pragma link C++ class std::vector<Inner>+;
#pragma link C++ class std::vector<Cell>+;
#pragma link C++ class std::vector<std::vector<Cell>>+;
#pragma link C++ class std::map<int,Cell>+;
#pragma link C++ class std::vector<std::array<float,3>>+;
#pragma link C++ class std::vector<std::array<int,2>>+;
#pragma link C++ class std::vector<std::vector<std::array<int,2>>>+;
#pragma link C++ class std::vector<std::array<short,2>>+;
#pragma link C++ class std::vector<std::vector<std::array<short,2>>>+;
#pragma link C++ class std::vector<std::vector<std::vector<std::array<short,2>>>>+;
#pragma link C++ class std::list<std::array<short,3>>+;
#pragma link C++ class std::deque<std::array<double,2>>+;
#pragma link C++ class std::set<std::array<int,2>>+;
#pragma link C++ class std::vector<std::array<bool,3>>+;
#pragma link C++ class std::vector<std::array<Inner,2>>+;
#pragma link C++ class std::vector<std::array<std::vector<float>,2>>+;
#pragma link C++ class std::vector<std::array<std::string,2>>+;
#pragma link C++ class std::map<int,std::array<float,3>>+;
#pragma link C++ class std::map<std::array<int,2>,int>+;
#pragma link C++ class std::map<int,std::vector<std::array<int,2>>>+;
#pragma link C++ class std::map<int,std::array<int,2>>+;
#pragma link C++ class std::map<int,std::map<int,std::array<int,2>>>+;
#pragma link C++ class std::pair<int,std::array<float,3>>+;
#pragma link C++ class std::pair<std::array<int,2>,std::vector<std::array<int,2>>>+;
#pragma link C++ class std::vector<std::pair<int,std::array<int,2>>>+;
#endif
