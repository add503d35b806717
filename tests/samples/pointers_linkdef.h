// SPDX-License-Identifier: Apache-2.0
#ifdef __CLING__
#pragma link C++ struct Hit+;
#pragma link C++ class Part+;
#pragma link C++ class Track+;
#pragma link C++ class Shower+;
#pragma link C++ class Mixin+;
#pragma link C++ class Counted+;
#pragma link C++ class Owner+;
#pragma link C++ class std::vector<Hit*>+;
#pragma link C++ class std::vector<Part*>+;
#pragma link C++ class std::list<Hit*>+;
#pragma link C++ class std::deque<Part*>+;
#pragma link C++ class std::map<int,Hit*>+;
#endif
