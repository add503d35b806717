// SPDX-License-Identifier: Apache-2.0
#ifdef __CLING__
#pragma link C++ enum Side;
#pragma link C++ struct Hit+;
#pragma link C++ struct Pod+;
#pragma link C++ class Particle+;
#pragma link C++ class Base+;
#pragma link C++ class Event+;
#pragma link C++ class std::vector<Pod>+;
#pragma link C++ class std::vector<Hit>+;
#pragma link C++ class std::vector<std::vector<int>>+;
#pragma link C++ class std::vector<std::vector<std::string>>+;
#pragma link C++ class std::map<int,float>+;
#pragma link C++ class std::deque<unsigned int>+;
#endif
